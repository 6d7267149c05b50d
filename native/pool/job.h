/* A job: the tasks of one call, and the threads that run them. */
#pragma once

#include "lanewise.h"
#include "pool/locks.h"
#include "pool/threads.h"
#include <stdatomic.h>

enum { LW_MAX_RANGES = 64 }; /* per job; if a job has more threads than this, several start with the same range */

/* A range of a job's tasks. Aligned, so that no two ranges share a cache line. */
typedef struct lw_range {
    _Alignas(64) _Atomic int64_t next; /* the first task of the range that no thread has started */
    int64_t end;
} lw_range;

/* Lives on the stack of the calling thread. */
typedef struct lw_job {
    lw_range ranges[LW_MAX_RANGES];
    const lw_context *context;
    lw_task *task;
    const void *argument;
    int range_count;
    /* The lowest index of a failed task; the number of tasks if none failed; -1 after an interruption. Tasks with a
     * higher index are skipped. */
    _Atomic int64_t failed;
    int is_abandoned; /* set in the child of a fork(), where the workers are missing */
    lw_mutex mutex;   /* guards the fields below */
    lw_status status;
    int64_t bad_index;
    char message[sizeof(((lw_context *)NULL)->message)];
} lw_job;

/* Initializes a job, and divides its tasks into one range for each of `threads` threads, at most LW_MAX_RANGES. */
void lw_job_init(lw_job *job, const lw_context *context, int threads, int64_t count, lw_task *task,
                 const void *argument);

/* Runs tasks on this thread until all have been started: first those of the range of the thread's number, then those of
 * the other ranges. `interrupted` is NULL on workers, which then have no context.host either. */
void lw_job_work(lw_job *job, int number, lw_interrupted *interrupted);

/* Records that tasks are lost, in the child of a fork() while the job had workers. */
void lw_job_abandon(lw_job *job);

/* Returns the status of a job that all threads have left, and copies the details of a failure to `context`. */
lw_status lw_job_status(const lw_job *job, lw_context *context);
