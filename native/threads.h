/* A pool of threads that share the tasks of a call: what lw_context.run is natively. Knows nothing of Python.
 * WebAssembly has one thread; threads.c is not compiled there. */
#pragma once

#include "lanewise.h"

enum { LW_MAX_THREADS = 1024 };

/* How many threads may work at one call, the calling one among them: from the start as many as lw_usable_cores(). */
int lw_threads(void);
void lw_set_threads(int threads); /* 1 .. LW_MAX_THREADS; calls that are under way finish with what they have */

/* Whether to stop; asked by the calling thread alone, between its tasks, with its context's host. */
typedef int lw_interrupted(void *host);

/* Runs the tasks on the calling thread and on at most `threads` - 1 others. Each thread has a context of its own, without
 * `run`: tasks of tasks follow one another. Where tasks fail, the status, and the index or the message in `context`, are
 * those of the first one that fails, as if they had run in order; an interruption goes before. */
lw_status lw_share_tasks(lw_context *context, int threads, int64_t count, lw_task *task, const void *argument,
                         lw_interrupted *interrupted);
