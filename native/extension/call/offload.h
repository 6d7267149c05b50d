/* Offload: AUTO moves a call from the CPU to a GPU if that takes less time (cost.h), copies of operands and result
 * included. The result is on the host, as without a GPU, so that what a program may do with it does not depend on its
 * size. */
#pragma once

#include "plan/plan.h"

LW_HIDDEN int lw_offloads; /* whether calls may be moved at all */
enum { LW_OFFLOAD_INTERRUPTED = -2 };

/* Returns the backend of the GPU to which a call is to be moved, or -1. Opens the GPU if calls so far would have saved
 * more time on it than opening takes; after Ctrl-C meanwhile, returns LW_OFFLOAD_INTERRUPTED with an error set. */
int lw_offload_backend(const lw_plan *plan);
/* Clears the error that a moved call has set. Stops moving calls if the device failed, but not if it ran out of memory,
 * refused the call or the arguments were wrong. */
void lw_give_up_offload(int backend);
