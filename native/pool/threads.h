/* The thread pool, which implements lw_context.run on native platforms. It does not depend on Python. WebAssembly has
 * one thread, so threads.c is not compiled there. */
#pragma once

#include "lanewise.h"

enum { LW_MAX_THREADS = 1024, LW_MAX_SPIN = 1000000 };

/* Returns how many threads may work on one call, including the calling one. The default is lw_cores(). */
int lw_threads(void);
void lw_set_threads(int threads); /* from 1 to LW_MAX_THREADS; surplus workers end after the job that they work on */

/* Returns lw_usable_cores(), which is read at the first call and by each lw_set_threads(). */
int lw_cores(void);

/* Sets how many microseconds threads spin before they sleep: from 0 to LW_MAX_SPIN, 50 by default. Returns what was set
 * before. */
int lw_set_spin(int microseconds);

/* Returns how many workers are awake and idle. */
int lw_ready_workers(void);

/* Returns whether the job must stop. Called between tasks, with lw_context.host, and only on the calling thread. */
typedef int lw_interrupted(void *host);

/* Runs the tasks on the calling thread and at most `threads` - 1 workers. A task can run further tasks through its
 * context; these run in order on the thread of that task. If tasks fail, the status, and the index or message in
 * `context`, are those of the failed task with the lowest index; an interruption takes precedence. */
lw_status lw_share_tasks(lw_context *context, int threads, int64_t count, lw_task *task, const void *argument,
                         lw_interrupted *interrupted);
