/* Runs the tasks of a job. They are divided into one range per thread. A thread starts with the range of its number, so
 * that successive jobs find their data in the cache of the same core. It then helps with the other ranges, one task at
 * a time, so that a core that is slow or shared does not delay the others. On two Zen 4 cores without a shared cache, a
 * matrix product is a third faster this way than with one range for all threads. */
#include "pool/job.h"
#include <string.h>

enum { INTERRUPTED = -1 }; /* the value of job.failed after the caller's `interrupted` has asked to stop */

/* The context that a task receives, followed by what run_nested() needs. */
typedef struct task_context {
    lw_context context; /* must be first: pointers to it are cast to task_context */
    lw_job *job;
    lw_interrupted *interrupted; /* NULL on a worker */
} task_context;

void lw_job_init(lw_job *job, const lw_context *context, int threads, int64_t count, lw_task *task,
                 const void *argument) {
    job->context = context;
    job->task = task;
    job->argument = argument;
    job->range_count = threads < LW_MAX_RANGES ? threads : LW_MAX_RANGES;
    atomic_init(&job->failed, count);
    job->is_abandoned = 0;
    job->mutex = (lw_mutex)LW_MUTEX_INIT;
    job->status = LW_OK; /* `bad_index` and `message` stay uninitialized until a task fails */
    int64_t share = count / job->range_count, rest = count % job->range_count, next = 0;
    for (int i = 0; i < job->range_count; i++) {
        atomic_init(&job->ranges[i].next, next);
        next += share + (i < rest);
        job->ranges[i].end = next;
    }
}

/* Records a failure, unless a task with a lower index has failed or the job was interrupted. */
static void record_failure(lw_job *job, int64_t index, lw_status status, const lw_context *context) {
    lw_lock(&job->mutex);
    if (index < atomic_load(&job->failed)) {
        atomic_store(&job->failed, index);
        job->status = status;
        if (status == LW_BAD_INDEX) {
            job->bad_index = context->bad_index;
        } else if (status == LW_DEVICE_ERROR) {
            memcpy(job->message, context->message, sizeof job->message);
        }
    }
    lw_unlock(&job->mutex);
}

/* Returns whether the job was interrupted. Only the calling thread calls `interrupted`; it records an interruption in
 * `failed`, where the workers see it. */
static int is_interrupted(task_context *own) {
    if (own->interrupted && own->interrupted(own->context.host)) {
        record_failure(own->job, INTERRUPTED, LW_INTERRUPTED, &own->context);
    }
    return atomic_load_explicit(&own->job->failed, memory_order_relaxed) == INTERRUPTED;
}

/* Implements lw_context.run for calls by a task: runs the nested tasks in order, on the thread of that task. */
static lw_status run_nested(lw_context *context, int64_t count, lw_task *task, const void *argument) {
    for (int64_t index = 0; index < count; index++) {
        lw_status status = task(context, index, argument);
        if (status != LW_OK) {
            return status;
        }
        if (is_interrupted((task_context *)context)) {
            return LW_INTERRUPTED;
        }
    }
    return LW_OK;
}

/* Returns whether the range has tasks that no thread has started. Checking this before claiming a task is cheaper for
 * ranges that are used up: unlike claims, plain reads of several ranges overlap. */
static int has_tasks(lw_range *range) { return atomic_load_explicit(&range->next, memory_order_relaxed) < range->end; }

/* Runs tasks of one range until none is left, a task with a lower index has failed, or the job is interrupted. */
static void work_at_range(lw_job *job, lw_range *range, task_context *own) {
    int64_t index;
    while (has_tasks(range) &&
           (index = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed)) < range->end) {
        if (index > atomic_load_explicit(&job->failed, memory_order_relaxed)) {
            return;
        }
        lw_status status = job->task(&own->context, index, job->argument);
        if (status != LW_OK) {
            record_failure(job, status == LW_INTERRUPTED ? INTERRUPTED : index, status, &own->context);
        } else if (is_interrupted(own)) {
            return;
        }
    }
}

void lw_job_work(lw_job *job, int number, lw_interrupted *interrupted) {
    task_context own; /* `message` and `bad_index` stay uninitialized until a task sets them */
    own.job = job;
    own.interrupted = interrupted;
    own.context.run = run_nested;
    own.context.allocate = job->context->allocate;
    own.context.release = job->context->release;
    own.context.host = interrupted ? job->context->host : NULL;
    own.context.stream = job->context->stream;
    own.context.cache_bytes = job->context->cache_bytes;
    own.context.l2_bytes = job->context->l2_bytes;
    own.context.threads = own.context.tasks = 1; /* nested tasks run on this thread */
    for (int i = 0; i < job->range_count; i++) {
        work_at_range(job, &job->ranges[(number + i) % job->range_count], &own);
    }
}

void lw_job_abandon(lw_job *job) {
    job->is_abandoned = 1;
    job->mutex = (lw_mutex)LW_MUTEX_INIT; /* one of the workers may have held it */
}

lw_status lw_job_status(const lw_job *job, lw_context *context) {
    if (job->is_abandoned) {
        static const char message[] =
            "a signal handler called fork(), and the child lacks the threads that ran some tasks";
        memcpy(context->message, message, sizeof message);
        return LW_DEVICE_ERROR;
    }
    if (job->status == LW_BAD_INDEX) {
        context->bad_index = job->bad_index;
    } else if (job->status == LW_DEVICE_ERROR) {
        memcpy(context->message, job->message, sizeof job->message);
    }
    return job->status;
}
