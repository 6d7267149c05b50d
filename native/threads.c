/* The pool. A job is the tasks of one call. It lives on the stack of the thread that calls, which offers it to the
 * workers, works at it as they do, and returns when the last of them has left it.
 *
 * The tasks are cut into a range for each thread. A worker has a number, the caller is 0, and begins with the range of
 * that number, so that from one job to the next a thread meets the memory that its processor's cache holds; when that
 * is done it helps out in the other ranges, a task at a time. Measured on two Zen 4 cores that share no cache, a matrix
 * product is a third faster so than with one range for all.
 *
 * Several threads may call at once. A worker goes to the oldest job that has room and tasks left; who finds no worker
 * does the work alone. So there are never more workers than set, however many call.
 *
 * Workers start when they are first wanted and sleep when there is nothing to do. One that has just finished watches for
 * WATCH_TURNS whether the next job comes, because a kernel often has several, a matrix product two for each depth, and
 * to wake up takes longer than many of them.
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
    WATCH_TURNS = 1000,   /* pauses: about 40 us on Zen 4, 2026-11; sleeping and waking takes 5 to 50 */
    MOST_RANGES = 64,     /* where there are more threads, some begin with the same */
    STACK_BYTES = 2 << 20 /* kernels keep up to 100 KB there; macOS and musl give threads little */
};

/* What the system has for it. */
#if defined(_WIN32)

typedef struct {
    void *pointer;
} mutex, condition; /* SRWLOCK and CONDITION_VARIABLE; zeros are their start */

void __stdcall AcquireSRWLockExclusive(mutex *);
void __stdcall ReleaseSRWLockExclusive(mutex *);
int __stdcall SleepConditionVariableSRW(condition *, mutex *, unsigned long, unsigned long);
void __stdcall WakeConditionVariable(condition *);
void __stdcall WakeAllConditionVariable(condition *);
void *__stdcall CreateThread(void *, size_t, unsigned long(__stdcall *)(void *), void *, unsigned long,
                             unsigned long *);
int __stdcall CloseHandle(void *);

#define MUTEX_START {NULL}
#define CONDITION_START {NULL}
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
#define MUTEX_START PTHREAD_MUTEX_INITIALIZER
#define CONDITION_START PTHREAD_COND_INITIALIZER
static void lock(mutex *m) { pthread_mutex_lock(m); }
static void unlock(mutex *m) { pthread_mutex_unlock(m); }
static void sleep_until(condition *c, mutex *m) { pthread_cond_wait(c, m); }
static void wake_one(condition *c) { pthread_cond_signal(c); }
static void wake_all(condition *c) { pthread_cond_broadcast(c); }

#endif

/* Tells the processor that a loop only waits. */
static void take_a_breath(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* yield does nothing on most */
#endif
}

/* Each in a cache line of its own. */
typedef struct range {
    _Alignas(64) _Atomic int64_t next; /* the first task that nobody has taken */
    int64_t end;
} range;

typedef struct job job;
struct job {
    range ranges[MOST_RANGES];
    const lw_context *context;
    lw_task *task;
    const void *argument;
    int range_count;
    atomic_int helpers;     /* workers at it */
    _Atomic int64_t failed; /* the first task that did, -1 for an interruption; what comes after it need not run */
    /* under the pool's mutex */
    job *later;
    int room;       /* workers that may still come */
    int is_awaited; /* by its owner, asleep */
    lw_status status;
    int64_t bad_index;
    char message[sizeof(((lw_context *)NULL)->message)];
};

static struct {
    mutex mutex;
    condition offered;  /* workers sleep here */
    condition left;     /* and here owners, until their job's last helper has left */
    atomic_int threads; /* wanted at most, callers among them; 0 before anybody asked */
    atomic_uint news;   /* counts what a watching worker is to look at */
    int workers, asleep, busy;
    job *jobs; /* the oldest first */
    unsigned forks;
} pool = {.mutex = MUTEX_START, .offered = CONDITION_START, .left = CONDITION_START};

int lw_threads(void) {
    int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (threads == 0) {
        int cores = lw_usable_cores(), none = 0;
        threads = cores < LW_MAX_THREADS ? cores : LW_MAX_THREADS;
        if (!atomic_compare_exchange_strong(&pool.threads, &none, threads)) { /* somebody else was faster */
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
    wake_all(&pool.offered); /* those that are too many leave */
}

/* Remembers the failure that comes first in order. */
static void fail(job *job, int64_t index, lw_status status, const lw_context *context) {
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

/* Takes tasks of one range until there are none. `interrupted` is NULL for a worker, which has no host either. */
static void work_at_range(job *job, range *range, lw_context *context, lw_interrupted *interrupted) {
    int64_t index;
    while ((index = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed)) < range->end) {
        if (index > atomic_load_explicit(&job->failed, memory_order_relaxed)) {
            return;
        }
        lw_status status = job->task(context, index, job->argument);
        if (status != LW_OK) {
            fail(job, index, status, context);
        } else if (interrupted && interrupted(context->host)) {
            fail(job, -1, LW_INTERRUPTED, context);
        }
    }
}

static void work(job *job, int number, lw_interrupted *interrupted) {
    lw_context context; /* the message and the index stay unset until a task sets them */
    context.run = NULL;
    context.allocate = job->context->allocate;
    context.release = job->context->release;
    context.host = interrupted ? job->context->host : NULL;
    context.stream = job->context->stream;
    context.cache_bytes = job->context->cache_bytes;
    for (int turn = 0; turn < job->range_count; turn++) {
        work_at_range(job, &job->ranges[(number + turn) % job->range_count], &context, interrupted);
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

/* The oldest job that a worker can join. */
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
    int is_awaited = job->is_awaited; /* with its last helper gone the job may be, too */
    if (atomic_fetch_sub(&job->helpers, 1) == 1 && is_awaited) {
        wake_all(&pool.left);
    }
}

/* Waits for something to do: looks out for a while if it `has_worked`, then sleeps. */
static void rest(int has_worked) {
    if (has_worked) {
        unsigned seen = atomic_load(&pool.news);
        unlock(&pool.mutex);
        for (int turn = 0; turn < WATCH_TURNS && atomic_load_explicit(&pool.news, memory_order_relaxed) == seen;
             turn++) {
            take_a_breath();
        }
        lock(&pool.mutex);
        return;
    }
    pool.asleep++;
    sleep_until(&pool.offered, &pool.mutex);
    pool.asleep--;
}

static void live(int number) {
    lw_float_modes_take_default();
    lock(&pool.mutex);
    int has_worked = 0;
    while (number < atomic_load(&pool.threads)) {
        job *job = find_job();
        if (job) {
            help(job, number);
        } else {
            rest(has_worked);
        }
        has_worked = job != NULL;
    }
    pool.workers--;
    unlock(&pool.mutex);
}

#if defined(_WIN32)

static unsigned long __stdcall live_on_windows(void *number) {
    live((int)(intptr_t)number);
    return 0;
}

static int start_worker(int number) {
    enum { RESERVE_STACK = 0x10000 };
    void *thread = CreateThread(NULL, STACK_BYTES, live_on_windows, (void *)(intptr_t)number, RESERVE_STACK, NULL);
    return thread ? CloseHandle(thread), 0 : -1;
}

#else

static void before_fork(void) { lock(&pool.mutex); }

static void after_fork_in_parent(void) { unlock(&pool.mutex); }

static void after_fork_in_child(void) {
    pool.mutex = (mutex)MUTEX_START;
    pool.offered = pool.left = (condition)CONDITION_START;
    pool.workers = pool.asleep = pool.busy = 0;
    pool.jobs = NULL;
    pool.forks++;
}

static void *live_on_posix(void *number) {
    live((int)(intptr_t)number);
    return NULL;
}

/* Signals are for Python's threads; but those that a thread itself causes cannot wait. */
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
    static int is_prepared;
    if (!is_prepared) {
        is_prepared = 1;
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t signals;
    if (pthread_attr_init(&attributes)) {
        return -1;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    block_signals(&signals); /* which the worker takes over */
    int failed = pthread_create(&thread, &attributes, live_on_posix, (void *)(intptr_t)number);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    pthread_attr_destroy(&attributes);
    return failed ? -1 : 0;
}

#endif

/* Puts a job at the end of the list. Where the system gives no more threads, fewer will do. */
static void offer(job *job) {
    lock(&pool.mutex);
    struct job **end = &pool.jobs;
    while (*end) {
        end = &(*end)->later;
    }
    *end = job;
    atomic_fetch_add(&pool.news, 1);
    int free = atomic_load(&pool.threads) - 1 - pool.busy, wanted = job->room < free ? job->room : free;
    while (pool.workers - pool.busy < wanted) {
        if (start_worker(pool.workers + 1)) {
            break;
        }
        pool.workers++;
    }
    int watching = pool.workers - pool.busy - pool.asleep, wake = wanted - watching;
    wake = wake < pool.asleep ? wake : pool.asleep;
    unlock(&pool.mutex);
    while (wake-- > 0) {
        wake_one(&pool.offered);
    }
}

/* Takes the job out of the list and waits until nobody works at it. */
static void withdraw(job *job) {
    lock(&pool.mutex);
    struct job **place = &pool.jobs;
    while (*place != job) {
        place = &(*place)->later;
    }
    *place = job->later;
    unlock(&pool.mutex);
    for (int turn = 0; turn < WATCH_TURNS; turn++) {
        if (atomic_load(&job->helpers) == 0) {
            return;
        }
        take_a_breath();
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
    job job; /* the message stays unset */
    job.context = context;
    job.task = task;
    job.argument = argument;
    atomic_init(&job.helpers, 0);
    atomic_init(&job.failed, count);
    job.later = NULL;
    job.room = threads < 2 || count < 2 ? 0 : (int)(threads < count ? threads : count) - 1;
    job.is_awaited = 0;
    job.status = LW_OK;
    job.range_count = job.room < MOST_RANGES ? job.room + 1 : MOST_RANGES;
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
        } else if (atomic_load(&job.helpers)) { /* a signal's handler has called fork(), and this is the child */
            static const char message[] = "fork() in a signal handler, and the tasks of other threads are lost";
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
