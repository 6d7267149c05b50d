/* Runs kernels on the CPU. */
#pragma once

#include "plan/operation.h"

/* Returns a kernel of a CPU backend, or NULL with an error set. */
lw_kernel *lw_find_kernel(int backend, int index);
/* Runs a kernel on the CPU, unless it is NULL. Long runs release the GIL, check for Ctrl-C and use several threads.
 * `nanoseconds` is the time that the run is expected to take on one thread. Returns 0, or -1 with an error set. */
int lw_run(lw_kernel *kernel, const void *layout, const void *const *inputs, void *const *outputs,
           const lw_scalar *parameters, double nanoseconds);
