/* The thread pool. A call's job is stored on the stack of the calling thread. That thread offers the job in a place,
 * works on it itself, closes the place, and returns when the last worker has left the job. It never waits for a worker
 * that has not joined. job.c runs the tasks.
 *
 * Workers are numbered from 1; the caller is 0. A worker joins a job by a compare-and-swap on the state of its place,
 * which counts the workers on the job and how many more may join. Several threads may offer jobs at once. All of them
 * share the workers, whose number stays within the limit; a caller that gets none does all the work itself.
 *
 * Workers are started on demand. A worker that has just finished a job spins for a while before it sleeps, because many
 * kernels run several jobs in sequence, and a job often takes less time than waking a sleeping worker. Spinning pays
 * only on a processor that no other thread needs; see may_spin(). Sleeping workers are woken in a tree: the caller
 * wakes four and starts to work, and each worker that was woken wakes four more while the job has room. A worker that
 * wakes up after a short job has ended spins, too: the next job is likely to follow soon.
 *
 * After fork() the child has no workers and starts its own. */
#include "pool/threads.h"
#include "pool/cores.h"
#include "pool/job.h"
#include "pool/locks.h"
#include "pool/start_thread.h"
#include "system/clock.h"
#include "system/float_modes.h"
#include <string.h>

enum {
    MAX_PLACES = 64, /* concurrent jobs that workers can join; callers of further jobs do all the work themselves */
    WOKEN_AT_ONCE = 4,
    PAUSES_PER_CLOCK = 8,      /* pauses per reading of the clock, which takes about 25 ns; a pause takes up to 45 */
    DESCHEDULED_NS = 200000,   /* a thread that reads the clock this late had lost its processor: another thread runs
                                  for a millisecond or more, an interrupt for 20 us at most */
    CROWDED_NS = 10 * 1000000, /* how long a thread that had lost its processor does not spin */
    SPIN_NS = 50000            /* waking a sleeping worker takes 5 to 50 us */
};

/* The state of a place: the number of workers on its job, how many more may join, and flags. Zero if it is free. */
enum {
    HELPER = 1,
    ROOM = 1 << 12, /* above LW_MAX_THREADS */
    TAKEN = 1 << 24,
    AWAITED = 1 << 25 /* the caller sleeps until the last worker has left */
};

static int helpers(uint32_t state) { return (int)(state % ROOM); }

static int room(uint32_t state) { return (int)(state % TAKEN / ROOM); }

/* Where a job is offered. A worker may look at a place whose job has ended, so places outlive jobs. Only workers that
 * have joined read `job`. */
typedef struct place {
    _Alignas(64) _Atomic uint32_t state;
    lw_job *job;
} place;

/* A worker; number 0 stands for all threads that call. */
typedef struct worker {
    _Alignas(64) lw_mutex mutex; /* guards is_woken */
    lw_condition woken;
    int is_woken;
    int is_alive; /* guarded by the pool's mutex */
    /* Until then the thread does not spin: its processor was taken by a thread that the pool does not count, such as
     * one of another pool or another process. */
    _Atomic int64_t crowded_until;
    int is_initialized; /* whether `mutex` and `woken` are; guarded by the pool's mutex */
} worker;

static struct {
    lw_mutex mutex;     /* guards starting and ending workers, and waiting on `left` */
    lw_condition left;  /* callers sleep on this until the last worker has left their job */
    atomic_int threads; /* the most threads for a call, including the caller; 0 before the first use */
    atomic_int cores;   /* the value of lw_cores(); 0 before the first use */
    atomic_int has_quota;
    _Atomic int64_t spin_ns;
    atomic_int place_count; /* places that have been used */
    unsigned forks;
    _Alignas(64) atomic_uint news;                /* incremented by each new job and each change of `threads` */
    _Alignas(64) atomic_int alive;                /* number of workers */
    atomic_int awake;                             /* number of workers that are not asleep */
    atomic_int callers;                           /* number of threads that are offering jobs */
    _Atomic uint64_t asleep[LW_MAX_THREADS / 64]; /* a bit per worker */
    place places[MAX_PLACES];
    worker workers[LW_MAX_THREADS];
} pool = {.mutex = LW_MUTEX_INIT, .left = LW_CONDITION_INIT, .spin_ns = SPIN_NS};

static int count_cores(void) {
    int has_quota, count = lw_usable_cores(&has_quota);
    atomic_store_explicit(&pool.has_quota, has_quota, memory_order_relaxed);
    atomic_store_explicit(&pool.cores, count, memory_order_release);
    return count;
}

int lw_cores(void) {
    int count = atomic_load_explicit(&pool.cores, memory_order_acquire);
    return count ? count : count_cores();
}

int lw_threads(void) {
    int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (threads == 0) {
        int cores = lw_cores(), none = 0;
        threads = cores < LW_MAX_THREADS ? cores : LW_MAX_THREADS;
        if (!atomic_compare_exchange_strong(&pool.threads, &none, threads)) { /* another thread set the limit first */
            threads = none;
        }
    }
    return threads;
}

int lw_set_spin(int microseconds) { return (int)(atomic_exchange(&pool.spin_ns, (int64_t)microseconds * 1000) / 1000); }

/* Returns whether a thread with this number may spin. It must not if other threads need its processor, or if a control
 * group limits the CPU time of the process, which spinning would use up. */
static int may_spin(int number, int64_t now) {
    return atomic_load_explicit(&pool.awake, memory_order_relaxed) +
                   atomic_load_explicit(&pool.callers, memory_order_relaxed) <=
               lw_cores() &&
           !atomic_load_explicit(&pool.has_quota, memory_order_relaxed) &&
           now >= atomic_load_explicit(&pool.workers[number].crowded_until, memory_order_relaxed);
}

static int has_news(const void *seen) {
    return atomic_load_explicit(&pool.news, memory_order_acquire) != *(const unsigned *)seen;
}

static int has_no_helpers(const void *of) {
    return helpers(atomic_load_explicit(&((place *)of)->state, memory_order_acquire)) == 0;
}

/* Returns until when a thread that has just worked may spin. */
static int64_t spin_deadline(void) {
    return lw_clock_nanoseconds() + atomic_load_explicit(&pool.spin_ns, memory_order_relaxed);
}

/* Spins until is_over(of), but gives up at the deadline, or if other threads need the processor. Returns whether it is
 * over. */
static int spin(int number, int (*is_over)(const void *), const void *of, int64_t deadline) {
    int64_t now = lw_clock_nanoseconds();
    while (now < deadline && may_spin(number, now)) {
        for (int i = 0; i < PAUSES_PER_CLOCK; i++) {
            if (is_over(of)) {
                return 1;
            }
            lw_pause();
        }
        int64_t before = now;
        now = lw_clock_nanoseconds();
        if (now - before > DESCHEDULED_NS) {
            atomic_store_explicit(&pool.workers[number].crowded_until, now + CROWDED_NS, memory_order_relaxed);
        }
    }
    return is_over(of);
}

/* Returns how many workers are on jobs other than that of `own`, a place or NULL. */
static int busy_workers(const place *own) {
    int busy = 0, places = atomic_load_explicit(&pool.place_count, memory_order_relaxed);
    for (int i = 0; i < places; i++) {
        if (&pool.places[i] != own) {
            busy += helpers(atomic_load_explicit(&pool.places[i].state, memory_order_relaxed));
        }
    }
    return busy;
}

int lw_ready_workers(void) {
    int ready = atomic_load_explicit(&pool.awake, memory_order_relaxed) - busy_workers(NULL);
    return ready > 0 ? ready : 0; /* negative if the counts change while they are read */
}

/* Wakes a worker whose bit in `asleep` the calling thread has cleared. */
static void wake(int number) {
    worker *woken = &pool.workers[number];
    lw_lock(&woken->mutex);
    woken->is_woken = 1;
    lw_unlock(&woken->mutex);
    lw_wake_one(&woken->woken);
}

/* Wakes up to `count` sleeping workers, the lowest numbers first: their caches are the likeliest to have the data. */
static void wake_workers(int count) {
    for (int word = 0; word < LW_MAX_THREADS / 64 && count > 0; word++) {
        uint64_t bits;
        while (count > 0 && (bits = atomic_load(&pool.asleep[word]))) {
            uint64_t lowest = bits & -bits;
            if (atomic_fetch_and(&pool.asleep[word], ~lowest) & lowest) {
                atomic_fetch_add(&pool.awake, 1);
                wake(64 * word + __builtin_ctzll(lowest));
                count--;
            }
        }
    }
}

/* Wakes a few workers if a job has room for more workers than are ready. Workers may join the job meanwhile: those that
 * have joined and those that are ready are counted together. */
static void wake_for(const place *place) {
    uint32_t state = atomic_load(&place->state);
    int missing = helpers(state) + room(state) + busy_workers(place) - atomic_load(&pool.awake);
    if (room(state) > 0 && missing > 0) {
        wake_workers(missing < WOKEN_AT_ONCE ? missing : WOKEN_AT_ONCE);
    }
}

void lw_set_threads(int threads) {
    atomic_store(&pool.threads, threads);
    if (atomic_load_explicit(&pool.cores, memory_order_relaxed)) {
        count_cores(); /* the process may have got other processors */
    }
    atomic_fetch_add(&pool.news, 1);
    wake_workers(LW_MAX_THREADS); /* surplus workers end */
}

/* Joins a job that has room. Returns its place, or NULL if no job has room. */
static place *join(void) {
    int places = atomic_load(&pool.place_count);
    for (int i = 0; i < places; i++) {
        uint32_t state = atomic_load(&pool.places[i].state);
        while (room(state) > 0) {
            if (atomic_compare_exchange_weak(&pool.places[i].state, &state, state - ROOM + HELPER)) {
                return &pool.places[i];
            }
        }
    }
    return NULL;
}

/* Helps with a job until all its tasks have been started. */
static void help(place *place, int number) {
    lw_job_work(place->job, number, NULL);
    uint32_t state = atomic_load_explicit(&place->state, memory_order_relaxed);
    if (room(state) > 0) { /* no further worker needs to join */
        atomic_fetch_and(&place->state, ~(uint32_t)(TAKEN - ROOM));
    }
    state = atomic_fetch_sub(&place->state, HELPER);
    if (state & AWAITED && helpers(state) == 1) {
        lw_lock(&pool.mutex);
        lw_wake_all(&pool.left);
        lw_unlock(&pool.mutex);
    }
}

/* Sleeps until wake_workers() chooses this worker. Returns at once if there is news since `seen` was read. */
static void sleep_until_woken(int number, unsigned seen) {
    uint64_t own = (uint64_t)1 << number % 64;
    atomic_fetch_sub(&pool.awake, 1);
    atomic_fetch_or(&pool.asleep[number / 64], own);
    if (atomic_load(&pool.news) != seen && atomic_fetch_and(&pool.asleep[number / 64], ~own) & own) {
        atomic_fetch_add(&pool.awake, 1);
        return;
    }
    worker *worker = &pool.workers[number];
    lw_lock(&worker->mutex);
    while (!worker->is_woken) {
        lw_wait(&worker->woken, &worker->mutex);
    }
    worker->is_woken = 0;
    lw_unlock(&worker->mutex);
}

/* Returns whether this worker has to end because the limit was lowered. If so, it no longer counts as alive. */
static int ends(int number) {
    if (number < atomic_load(&pool.threads)) {
        return 0;
    }
    lw_lock(&pool.mutex);
    int is_surplus = number >= atomic_load(&pool.threads);
    if (is_surplus) {
        pool.workers[number].is_alive = 0;
        atomic_fetch_sub(&pool.alive, 1);
        atomic_fetch_sub(&pool.awake, 1);
    }
    lw_unlock(&pool.mutex);
    return is_surplus;
}

static void run_worker(int number) {
    lw_float_modes_set_default();
    int64_t deadline = spin_deadline();
    int is_fresh = 1; /* started or woken since it last joined a job */
    while (!ends(number)) {
        unsigned seen = atomic_load(&pool.news);
        place *place = join();
        if (place) {
            if (is_fresh) {
                wake_for(place);
            }
            is_fresh = 0;
            help(place, number);
            deadline = spin_deadline();
        } else if (!spin(number, has_news, &seen, deadline)) {
            sleep_until_woken(number, seen);
            deadline = spin_deadline();
            is_fresh = 1;
        }
    }
}

#if !defined(_WIN32)

static void before_fork(void) { lw_lock(&pool.mutex); }

static void after_fork_in_parent(void) { lw_unlock(&pool.mutex); }

/* The child has no workers. If the thread that called fork() was working on a job that had workers, the tasks that they
 * had started are lost. */
static void after_fork_in_child(void) {
    for (int i = 0; i < MAX_PLACES; i++) {
        if (helpers(atomic_load(&pool.places[i].state))) {
            lw_job_abandon(pool.places[i].job);
        }
        atomic_store(&pool.places[i].state, 0);
    }
    memset(pool.workers, 0, sizeof pool.workers);
    for (size_t i = 0; i < sizeof pool.asleep / sizeof *pool.asleep; i++) {
        atomic_store(&pool.asleep[i], 0);
    }
    pool.mutex = (lw_mutex)LW_MUTEX_INIT;
    pool.left = (lw_condition)LW_CONDITION_INIT;
    atomic_store(&pool.alive, 0);
    atomic_store(&pool.awake, 0);
    atomic_store(&pool.callers, 0);
    pool.forks++;
}

/* Registers the handlers of fork() when the library is loaded, before any thread can hold the mutex. Without them, if
 * the process forked while another thread held the mutex, the first call in the child would wait for it forever. */
__attribute__((constructor)) static void handle_forks(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

#endif

/* Starts workers until `count` of them are not busy with jobs of other places, or the limit is reached. If a thread
 * cannot be created, fewer threads work on the job. */
static void start_workers(const place *place, int count) {
    int limit = atomic_load(&pool.threads) - 1;
    if (atomic_load(&pool.alive) >= limit || atomic_load(&pool.alive) - busy_workers(place) >= count) {
        return;
    }
    lw_lock(&pool.mutex);
    for (int number = 1; number <= limit && atomic_load(&pool.alive) - busy_workers(place) < count; number++) {
        worker *worker = &pool.workers[number];
        if (worker->is_alive) {
            continue;
        }
        if (!worker->is_initialized) {
            worker->mutex = (lw_mutex)LW_MUTEX_INIT;
            worker->woken = (lw_condition)LW_CONDITION_INIT;
            worker->is_initialized = 1;
        }
        worker->is_alive = 1;
        atomic_fetch_add(&pool.alive, 1);
        atomic_fetch_add(&pool.awake, 1);
        if (lw_start_thread(run_worker, number)) {
            worker->is_alive = 0;
            atomic_fetch_sub(&pool.alive, 1);
            atomic_fetch_sub(&pool.awake, 1);
            break;
        }
    }
    lw_unlock(&pool.mutex);
}

/* Takes a free place and returns it, or returns NULL if all are taken. */
static place *take_place(void) {
    for (int i = 0; i < MAX_PLACES; i++) {
        uint32_t free = 0;
        place *place = &pool.places[i];
        if (atomic_load_explicit(&place->state, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&place->state, &free, TAKEN)) {
            int count = atomic_load(&pool.place_count);
            while (count <= i && !atomic_compare_exchange_weak(&pool.place_count, &count, i + 1)) {
            }
            return place;
        }
    }
    return NULL;
}

/* Offers a job to up to `workers` workers. Returns its place, or NULL if all are taken. */
static place *offer(lw_job *job, int workers) {
    atomic_fetch_add(&pool.callers, 1);
    place *place = take_place();
    if (place) {
        place->job = job;
        atomic_store(&place->state, TAKEN + (uint32_t)workers * ROOM);
        atomic_fetch_add(&pool.news, 1);
        start_workers(place, workers);
        wake_for(place);
    }
    return place;
}

/* Closes a job's place, waits until the last worker has left the job, and frees the place. */
static void withdraw(place *place) {
    if (place) {
        uint32_t state = atomic_fetch_and(&place->state, ~(uint32_t)(TAKEN - ROOM));
        if (helpers(state) && !spin(0, has_no_helpers, place, spin_deadline())) {
            lw_lock(&pool.mutex);
            atomic_fetch_or(&place->state, AWAITED);
            while (!has_no_helpers(place)) {
                lw_wait(&pool.left, &pool.mutex);
            }
            lw_unlock(&pool.mutex);
        }
        atomic_store(&place->state, 0);
    }
    atomic_fetch_sub(&pool.callers, 1);
}

lw_status lw_share_tasks(lw_context *context, int threads, int64_t count, lw_task *task, const void *argument,
                         lw_interrupted *interrupted) {
    lw_job job;
    int64_t useful = threads < count ? threads : count;
    int workers = useful > 1 ? (int)useful - 1 : 0;
    lw_job_init(&job, context, workers + 1, count, task, argument);
    if (workers == 0) {
        lw_job_work(&job, 0, interrupted);
    } else {
        unsigned forks = pool.forks;
        place *place = offer(&job, workers);
        lw_job_work(&job, 0, interrupted);
        if (forks == pool.forks) {
            withdraw(place);
        } /* otherwise this is the child of a fork(), which has freed all places */
    }
    return lw_job_status(&job, context);
}
