/* Runs kernels on web workers, which only WebAssembly has. */
#pragma once

#include "plan/plan.h"

/* Runs the kernel of a plan for the CPU on the workers of lw.init_threads(). Returns 1 if it did, 0 if the call has to
 * run on the calling thread, and -1 with an error set if the user interrupted it or a warning is an error. */
int lw_run_on_workers(const lw_plan *plan, const void *const *inputs, void *const *outputs);
