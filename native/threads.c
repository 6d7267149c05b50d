/* The thread pool. A job consists of the tasks of one call. It is stored on the stack of the calling thread. That
 * thread offers the job to the workers, works on it itself, and returns when the last worker has left the job.
 *
 * The tasks are divided into one range per thread. Workers are numbered from 1; the caller is 0. A thread starts with
 * the range of its number, so that successive jobs find their data in the cache of the same core. It then helps with
 * the other ranges, one task at a time. On two Zen 4 cores without a shared cache, a matrix product is a third faster
 * this way than with one range for all threads.
 *
 * Several threads may offer jobs at once. A worker joins the oldest job that has room and tasks left; a caller that
 * gets no worker does all the work itself. So the number of workers stays within the limit, however many threads call.
 *
 * Workers are started on demand and sleep when idle. A worker that has just finished a job first spins for SPIN_PAUSES,
 * because many kernels run several jobs in sequence (a large matrix product runs two per block: one packs the
 * block, the other multiplies), and most jobs take less time than waking a sleeping worker.
 *
 * After fork() the child has no workers and starts its own. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "threads.h"
#include "cores.h"
#include "float_modes.h"
#include <stdatomic.h>
#include <string.h>

enum {
    SPIN_PAUSES = 1000,   /* about 40 us on Zen 4 (measured 2026-11); sleeping and waking up takes 5 to 50 us */
    MAX_RANGES = 64,      /* per job; if a job has more threads than this, several start with the same range */
    STACK_BYTES = 2 << 20 /* kernels use up to 100 KB of stack; the default stacks of macOS and musl are small */
};

/* Mutexes and condition variables of the operating system. */
#if defined(_WIN32)

typedef struct {
    void *pointer;
} mutex, condition; /* SRWLOCK and CONDITION_VARIABLE; initialized by zeros */

void __stdcall AcquireSRWLockExclusive(mutex *);
void __stdcall ReleaseSRWLockExclusive(mutex *);
int __stdcall SleepConditionVariableSRW(condition *, mutex *, unsigned long, unsigned long);
void __stdcall WakeConditionVariable(condition *);
void __stdcall WakeAllConditionVariable(condition *);
void *__stdcall CreateThread(void *, size_t, unsigned long(__stdcall *)(void *), void *, unsigned long,
                             unsigned long *);
int __stdcall CloseHandle(void *);

#define MUTEX_INIT {NULL}
#define CONDITION_INIT {NULL}
static void lock(mutex *m) { AcquireSRWLockExclusive(m); }
static void unlock(mutex *m) { ReleaseSRWLockExclusive(m); }
static void sleep_until(condition *c, mutex *m) { SleepConditionVariableSRW(c, m, 0xffffffff, 0); }
static void wake_one(condition *c) { WakeConditionVariable(c); }
static void wake_all(condition *c) { WakeAllConditionVariable(c); }

#else

#include <pthread.h>
#include <signal.h>

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;
#define MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define CONDITION_INIT PTHREAD_COND_INITIALIZER
static void lock(mutex *m) { pthread_mutex_lock(m); }
static void unlock(mutex *m) { pthread_mutex_unlock(m); }
static void sleep_until(condition *c, mutex *m) { pthread_cond_wait(c, m); }
static void wake_one(condition *c) { pthread_cond_signal(c); }
static void wake_all(condition *c) { pthread_cond_broadcast(c); }

#endif

/* Tells the processor that this is a spin loop. */
static void pause_processor(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* the instruction yield does nothing on most processors */
#endif
}

/* A range of a job's tasks. Aligned, so that no two ranges share a cache line. */
typedef struct range {
    _Alignas(64) _Atomic int64_t next; /* the first task of the range that no thread has started */
    int64_t end;
} range;

enum { INTERRUPTED = -1 }; /* the value of job.failed after the caller's `interrupted` has asked to stop */

typedef struct job job;
struct job {
    range ranges[MAX_RANGES];
    const lw_context *context;
    lw_task *task;
    const void *argument;
    int range_count;
    atomic_int helpers; /* number of workers on this job */
    /* The lowest index of a failed task; the number of tasks if none failed; INTERRUPTED after an interruption. Tasks
     * with a higher index are skipped. */
    _Atomic int64_t failed;
    /* the pool's mutex guards all fields below */
    job *later;
    int room;       /* how many more workers may join */
    int is_awaited; /* the caller sleeps until the last worker has left */
    lw_status status;
    int64_t bad_index;
    char message[sizeof(((lw_context *)NULL)->message)];
};

/* The context that a task receives, followed by what run_nested() needs. */
typedef struct task_context {
    lw_context context; /* must be first: pointers to it are cast to task_context */
    job *job;
    lw_interrupted *interrupted; /* NULL on a worker */
} task_context;

static struct {
    mutex mutex;
    condition offered;  /* idle workers sleep on this */
    condition left;     /* callers sleep on this until the last worker has left their job */
    atomic_int threads; /* the most threads for a call, including the caller; 0 before the first use */
    atomic_uint news;   /* incremented by each new job and each change of `threads`; workers spin until it changes */
    int workers, asleep, busy;
    job *jobs; /* oldest first */
    unsigned forks;
} pool = {.mutex = MUTEX_INIT, .offered = CONDITION_INIT, .left = CONDITION_INIT};

int lw_threads(void) {
    int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (threads == 0) {
        int cores = lw_usable_cores(), none = 0;
        threads = cores < LW_MAX_THREADS ? cores : LW_MAX_THREADS;
        if (!atomic_compare_exchange_strong(&pool.threads, &none, threads)) { /* another thread set the limit first */
            threads = none;
        }
    }
    return threads;
}

void lw_set_threads(int threads) {
    lock(&pool.mutex);
    atomic_store(&pool.threads, threads);
    atomic_fetch_add(&pool.news, 1);
    unlock(&pool.mutex);
    wake_all(&pool.offered); /* surplus workers exit */
}

/* Records a failure, unless a task with a lower index has failed or the job was interrupted. */
static void record_failure(job *job, int64_t index, lw_status status, const lw_context *context) {
    lock(&pool.mutex);
    if (index < atomic_load(&job->failed)) {
        atomic_store(&job->failed, index);
        job->status = status;
        if (status == LW_BAD_INDEX) {
            job->bad_index = context->bad_index;
        } else if (status == LW_DEVICE_ERROR) {
            memcpy(job->message, context->message, sizeof job->message);
        }
    }
    unlock(&pool.mutex);
}

/* Returns whether the job was interrupted. Only the calling thread calls `interrupted`. That thread records an
 * interruption in `failed`, where the workers see it. */
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

/* Runs tasks of one range until none is left, a task with a lower index has failed, or the job is interrupted. */
static void work_at_range(job *job, range *range, task_context *own) {
    int64_t index;
    while ((index = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed)) < range->end) {
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

/* Runs tasks of a job, beginning with the range of this thread's number. On a worker, `interrupted` and
 * context.host are NULL. */
static void work(job *job, int number, lw_interrupted *interrupted) {
    task_context own; /* `message` and `bad_index` stay uninitialized until a task sets them */
    own.job = job;
    own.interrupted = interrupted;
    own.context.run = run_nested;
    own.context.allocate = job->context->allocate;
    own.context.release = job->context->release;
    own.context.host = interrupted ? job->context->host : NULL;
    own.context.stream = job->context->stream;
    own.context.cache_bytes = job->context->cache_bytes;
    for (int i = 0; i < job->range_count; i++) {
        work_at_range(job, &job->ranges[(number + i) % job->range_count], &own);
    }
}

static int has_tasks(job *job) {
    for (int i = 0; i < job->range_count; i++) {
        if (atomic_load_explicit(&job->ranges[i].next, memory_order_relaxed) < job->ranges[i].end) {
            return 1;
        }
    }
    return 0;
}

/* Returns the oldest job that a worker can join, or NULL. */
static job *find_job(void) {
    for (job *job = pool.jobs; job; job = job->later) {
        if (job->room > 0 && has_tasks(job)) {
            return job;
        }
    }
    return NULL;
}

static void help(job *job, int number) {
    job->room--;
    pool.busy++;
    atomic_fetch_add(&job->helpers, 1);
    unlock(&pool.mutex);
    work(job, number, NULL);
    lock(&pool.mutex);
    pool.busy--;
    int is_awaited = job->is_awaited; /* read now: after the last worker has left, the job may no longer exist */
    if (atomic_fetch_sub(&job->helpers, 1) == 1 && is_awaited) {
        wake_all(&pool.left);
    }
}

/* Waits for a job: spins if this worker has just finished a job, else sleeps. */
static void wait_for_job(int has_worked) {
    if (has_worked) {
        unsigned seen = atomic_load(&pool.news);
        unlock(&pool.mutex);
        for (int i = 0; i < SPIN_PAUSES && atomic_load_explicit(&pool.news, memory_order_relaxed) == seen; i++) {
            pause_processor();
        }
        lock(&pool.mutex);
        return;
    }
    pool.asleep++;
    sleep_until(&pool.offered, &pool.mutex);
    pool.asleep--;
}

static void run_worker(int number) {
    lw_float_modes_set_default();
    lock(&pool.mutex);
    int has_worked = 0;
    while (number < atomic_load(&pool.threads)) {
        job *job = find_job();
        if (job) {
            help(job, number);
        } else {
            wait_for_job(has_worked);
        }
        has_worked = job != NULL;
    }
    pool.workers--;
    unlock(&pool.mutex);
}

#if defined(_WIN32)

static unsigned long __stdcall worker_on_windows(void *number) {
    run_worker((int)(intptr_t)number);
    return 0;
}

static int start_worker(int number) {
    enum { RESERVE_STACK = 0x10000 };
    void *thread = CreateThread(NULL, STACK_BYTES, worker_on_windows, (void *)(intptr_t)number, RESERVE_STACK, NULL);
    return thread ? CloseHandle(thread), 0 : -1;
}

#else

static void before_fork(void) { lock(&pool.mutex); }

static void after_fork_in_parent(void) { unlock(&pool.mutex); }

static void after_fork_in_child(void) {
    pool.mutex = (mutex)MUTEX_INIT;
    pool.offered = pool.left = (condition)CONDITION_INIT;
    pool.workers = pool.asleep = pool.busy = 0;
    pool.jobs = NULL;
    pool.forks++;
}

/* Registers the handlers of fork() when the library is loaded, before any thread can hold the mutex. Without them, if
 * the process forked while another thread held the mutex, the first call in the child would wait for it forever. */
__attribute__((constructor)) static void handle_forks(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void *worker_on_posix(void *number) {
    run_worker((int)(intptr_t)number);
    return NULL;
}

/* Blocks all signals but those that report a fault of the thread itself: Python's threads handle the blocked ones. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t signals;
    sigfillset(&signals);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        sigdelset(&signals, own[i]);
    }
    pthread_sigmask(SIG_SETMASK, &signals, before);
}

static int start_worker(int number) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t signals;
    if (pthread_attr_init(&attributes)) {
        return -1;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    block_signals(&signals); /* the worker inherits the mask */
    int failed = pthread_create(&thread, &attributes, worker_on_posix, (void *)(intptr_t)number);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

#endif

/* Appends a job to the list, and starts or wakes workers for it. If a thread cannot be created, fewer threads work on
 * the job. */
static void offer(job *job) {
    lock(&pool.mutex);
    struct job **end = &pool.jobs;
    while (*end) {
        end = &(*end)->later;
    }
    *end = job;
    atomic_fetch_add(&pool.news, 1);
    int free = atomic_load(&pool.threads) - 1 - pool.busy, needed = job->room < free ? job->room : free;
    while (pool.workers - pool.busy < needed) {
        if (start_worker(pool.workers + 1)) {
            break;
        }
        pool.workers++;
    }
    int spinning = pool.workers - pool.busy - pool.asleep, wake = needed - spinning;
    wake = wake < pool.asleep ? wake : pool.asleep;
    unlock(&pool.mutex);
    while (wake-- > 0) {
        wake_one(&pool.offered);
    }
}

/* Removes the job from the list and waits until the last worker has left it. */
static void withdraw(job *job) {
    lock(&pool.mutex);
    struct job **place = &pool.jobs;
    while (*place != job) {
        place = &(*place)->later;
    }
    *place = job->later;
    unlock(&pool.mutex);
    for (int i = 0; i < SPIN_PAUSES; i++) {
        if (atomic_load(&job->helpers) == 0) {
            return;
        }
        pause_processor();
    }
    lock(&pool.mutex);
    job->is_awaited = 1;
    while (atomic_load(&job->helpers)) {
        sleep_until(&pool.left, &pool.mutex);
    }
    unlock(&pool.mutex);
}

lw_status lw_share_tasks(lw_context *context, int threads, int64_t count, lw_task *task, const void *argument,
                         lw_interrupted *interrupted) {
    job job; /* `bad_index` and `message` stay uninitialized until a task fails */
    job.context = context;
    job.task = task;
    job.argument = argument;
    atomic_init(&job.helpers, 0);
    atomic_init(&job.failed, count);
    job.later = NULL;
    int64_t useful = threads < count ? threads : count;
    job.room = useful > 0 ? (int)useful - 1 : 0;
    job.is_awaited = 0;
    job.status = LW_OK;
    job.range_count = job.room < MAX_RANGES ? job.room + 1 : MAX_RANGES;
    int64_t share = count / job.range_count, rest = count % job.range_count, next = 0;
    for (int i = 0; i < job.range_count; i++) {
        atomic_init(&job.ranges[i].next, next);
        next += share + (i < rest);
        job.ranges[i].end = next;
    }
    if (job.room == 0) {
        work(&job, 0, interrupted);
    } else {
        unsigned forks = pool.forks;
        offer(&job);
        work(&job, 0, interrupted);
        if (forks == pool.forks) {
            withdraw(&job);
        } else if (atomic_load(&job.helpers)) { /* this is the child of a fork(); the workers stayed behind */
            static const char message[] =
                "a signal handler called fork(), and the child lacks the threads that ran some tasks";
            memcpy(context->message, message, sizeof message);
            return LW_DEVICE_ERROR;
        }
    }
    if (job.status == LW_BAD_INDEX) {
        context->bad_index = job.bad_index;
    } else if (job.status == LW_DEVICE_ERROR) {
        memcpy(context->message, job.message, sizeof job.message);
    }
    return job.status;
}
