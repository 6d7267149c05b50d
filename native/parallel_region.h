/* Whether another library already runs its threads. */
#pragma once

/* Returns whether the calling thread is inside a parallel region of OpenMP, whose threads already share the processors.
 * Asks every OpenMP runtime of the process, because libraries bring their own. */
int lw_in_parallel_region(void);
