/* One model of what calls cost, in nanoseconds: of kernels on a thread of the CPU, of threads, web workers and a GPU.
 * It makes each decision that depends on time. lw.calibrate() measures its constants. */
#pragma once

#include "plan/plan.h"

/* Returns the time on one thread of the CPU, according to the operation's contract. */
double lw_nominal_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes);
/* Returns the time on one thread of this machine: steps take the time in the contract, multiplied by the rate of the
 * CPU backend; moving bytes takes as long as everywhere. */
double lw_expected_nanoseconds(const lw_operation *operation, int backend, int64_t steps, int64_t bytes);

/* Returns whether a call is so short that it keeps the GIL and the calling thread. */
int lw_is_brief(double nanoseconds);
/* Returns how many threads can run at once: those that are set, at most one per processor. */
int lw_running_threads(void);
/* Returns how many threads share a call of this time: at least 1, at most as many as are set. */
int lw_threads_for(double nanoseconds);
/* Returns into how many tasks a call of this time is to be divided: the same number for each thread. */
int64_t lw_tasks_for(double nanoseconds, int64_t threads);

/* Returns whether a plan computes much for each element that it reads: only such calls may go to web workers, or from
 * the CPU to a GPU, because both have to copy the operands. */
int lw_computes_much(const lw_plan *plan);
/* Returns whether a plan takes so long that web workers are faster, although `bytes` are copied. */
int lw_suits_web_workers(const lw_plan *plan, int64_t bytes);

typedef struct lw_times {
    double host, gpu; /* of a call; on the GPU, with the copies and a margin for what is not known exactly */
} lw_times;

/* Sets the times of a plan for the host. Returns whether a GPU may run it: it computes much, in float32, and returns
 * floats. */
int lw_offload_times(const lw_plan *plan, lw_times *times);
/* Returns whether saving this time pays for opening the GPU. */
int lw_pays_for_opening(double nanoseconds);
/* Returns whether recorded launches that take this time on a thread of the CPU keep a GPU busy until the next batch. */
int lw_fills_gpu(double nanoseconds);
