/* Promotion: AUTO moves a call from the CPU to a GPU if that takes less time, copies of operands and result included.
 * The times come from lw.calibrate(). The result is on the host, as without a GPU, so that what a program may do with
 * it does not depend on its size. */
#pragma once

#include "plan.h"

/* How long a call is expected to take, in nanoseconds. */
typedef struct lw_times {
    double nominal;   /* of the kernel, according to the contract, on one thread */
    double host, gpu; /* of the call; on the GPU, with the copies and a margin for what is not known exactly */
} lw_times;

LW_HIDDEN int lw_promotes; /* whether calls may be moved at all */

/* Returns whether lw.calibrate() has measured operations like that of a plan, which is on the host. Sets `times`. */
int lw_expect(const lw_plan *plan, lw_times *times);
enum { LW_PROMOTION_INTERRUPTED = -2 };

/* Returns the backend of the GPU to which a call is to be moved, or -1. Opens the GPU if calls so far would have saved
 * more time on it than opening takes; after Ctrl-C meanwhile, returns LW_PROMOTION_INTERRUPTED with an error set. */
int lw_promoted_backend(const lw_plan *plan);
/* Clears the error that a moved call has set. Stops moving calls if the device failed, but not if it ran out of memory,
 * refused the call or the arguments were wrong. */
void lw_give_up_promotion(int backend);
