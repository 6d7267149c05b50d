/* Tests when workers spin, and that they sleep otherwise. The linker's option --wrap, which test_threads.py passes,
 * lets the pool read the clock and the files of control groups from here. Most tests use a clock that stands still: a
 * worker that may spin then spins until the test moves the clock, and never finds that it has lost its processor,
 * however busy the machine is. */
#define _GNU_SOURCE
#include "pool.h"
#include "system/clock.h"
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { US = 1000, MS = 1000 * US }; /* in nanoseconds */
enum { SYSTEM = -1 };

/* By how many nanoseconds each reading advances the clock, which is at `now`, or SYSTEM, to read the system's clock. */
static atomic_int step = SYSTEM;
static _Atomic int64_t now, readings;
static const char *cpu_max; /* the limit of the only control group; NULL to read those of the machine */

int64_t __real_lw_clock_nanoseconds(void);
int64_t __wrap_lw_clock_nanoseconds(void);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

int64_t __wrap_lw_clock_nanoseconds(void) {
    int by = atomic_load(&step);
    atomic_fetch_add(&readings, 1);
    return by == SYSTEM ? __real_lw_clock_nanoseconds() : atomic_fetch_add(&now, by) + by;
}

static FILE *open_text(const char *text) { return fmemopen((void *)text, strlen(text), "r"); }

FILE *__wrap_fopen(const char *path, const char *mode) {
    if (cpu_max && strcmp(path, "/proc/self/cgroup") == 0) {
        return open_text("0::/\n");
    }
    if (cpu_max && strcmp(path, "/sys/fs/cgroup/cpu.max") == 0) {
        return open_text(cpu_max);
    }
    return __real_fopen(path, mode);
}

/* Lets the process use two processors, all the time. Returns whether the machine has two: on one, workers hardly ever
 * spin. */
static int use_two_processors(void) {
    cpu_set_t two;
    CHECK(sched_getaffinity(0, sizeof two, &two) == 0);
    for (int cpu = 0; CPU_COUNT(&two) > 2; cpu++) {
        CPU_CLR(cpu, &two);
    }
    CHECK(sched_setaffinity(0, sizeof two, &two) == 0);
    cpu_max = "max 100000\n";
    return CPU_COUNT(&two) == 2;
}

static void stop_clock(void) { atomic_store(&step, 0); }

static void advance_clock(int64_t nanoseconds) { atomic_fetch_add(&now, nanoseconds); }

/* Checks that the only worker keeps reading the clock, which it does only while it spins. */
static void check_spinning(void) {
    int64_t until = atomic_load(&readings) + 1000;
    for (int poll = 0; poll < 2000 && atomic_load(&readings) < until; poll++) {
        usleep(1000);
    }
    CHECK(atomic_load(&readings) >= until);
    CHECK(lw_ready_workers() == 1);
}

/* With more threads than processors, no more workers spin than there are processors. The others sleep, although the
 * clock stands still. */
void test_surplus(void) {
    use_two_processors();
    stop_clock();
    lw_set_threads(32);
    for (int turn = 0; turn < 3; turn++) {
        hold_meeting(32);
        await_ready(2);
    }
}

typedef struct hold {
    atomic_int started, lets_worker_go, lets_caller_go;
    pthread_t caller;
} hold;

/* A task that does not end before its thread, the caller or a worker, is let go. */
static lw_status be_held(lw_context *context, int64_t index, const void *argument) {
    (void)context, (void)index;
    hold *h = (hold *)argument;
    atomic_int *lets_go = pthread_equal(pthread_self(), h->caller) ? &h->lets_caller_go : &h->lets_worker_go;
    atomic_fetch_add(&h->started, 1);
    while (!atomic_load(lets_go)) {
        usleep(100);
    }
    return LW_OK;
}

static void *call_held(void *argument) {
    hold *h = argument;
    h->caller = pthread_self();
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, 2, 2, be_held, h, never) == LW_OK);
    return NULL;
}

/* Starts a thread that calls, and waits until `expected` tasks of the call have started. */
static pthread_t start_held(hold *h, int expected) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_held, h) == 0);
    while (atomic_load(&h->started) < expected) {
        usleep(100);
    }
    return thread;
}

static void end_held(hold *h, pthread_t thread) {
    atomic_store(&h->lets_worker_go, 1);
    atomic_store(&h->lets_caller_go, 1);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A worker spins beside one thread that calls, but not beside two: they need both processors. */
void test_beside_callers(void) {
    if (!use_two_processors()) {
        return;
    }
    stop_clock();
    lw_set_threads(2);
    hold one = {0}, two = {.lets_worker_go = 1};
    pthread_t first = start_held(&one, 2);
    atomic_store(&one.lets_worker_go, 1);
    check_spinning();
    pthread_t second = start_held(&two, 2); /* the worker runs one of the two tasks at once */
    await_sleep();
    end_held(&one, first);
    end_held(&two, second);
}

/* No worker spins if a control group gives the process less CPU time than its processors have, even if that is enough
 * for a part of each processor's time. */
void test_quota(void) {
    if (!use_two_processors()) {
        return;
    }
    stop_clock();
    lw_set_threads(2);
    hold_meeting(2);
    check_spinning();
    cpu_max = "150000 100000\n";
    lw_set_threads(2);
    for (int turn = 0; turn < 3; turn++) {
        await_sleep();
        hold_meeting(2);
    }
    await_sleep();
    cpu_max = "200000 100000\n"; /* all the time of both processors */
    lw_set_threads(2);
    hold_meeting(2);
    check_spinning();
}

/* A thread that finds while it spins that its last reading of the clock is old had lost its processor. It sleeps, and
 * does not spin for 10 ms. */
void test_late(void) {
    if (!use_two_processors()) {
        return;
    }
    stop_clock();
    lw_set_threads(2);
    lw_set_spin(LW_MAX_SPIN);
    hold_meeting(2);
    check_spinning();
    advance_clock(100 * US); /* an interrupt takes less time */
    check_spinning();
    advance_clock(1 * MS);
    await_sleep();
    hold_meeting(2);
    await_sleep();
    advance_clock(9 * MS);
    hold_meeting(2);
    await_sleep();
    advance_clock(2 * MS);
    hold_meeting(2);
    check_spinning();
}

static atomic_int is_over;

/* Keeps a processor busy, and no other one. */
static void *occupy(void *processor) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET((int)(intptr_t)processor, &own);
    CHECK(sched_setaffinity(0, sizeof own, &own) == 0);
    while (!atomic_load(&is_over)) {
    }
    return NULL;
}

/* Returns whether all workers sleep before they have spun for half of LW_MAX_SPIN. */
static int sleep_early(void) {
    int64_t end = __real_lw_clock_nanoseconds() + (int64_t)LW_MAX_SPIN * US / 2;
    while (lw_ready_workers() && __real_lw_clock_nanoseconds() < end) {
        usleep(1000);
    }
    return lw_ready_workers() == 0;
}

/* If threads that are not the pool's keep all processors busy, a worker stops spinning early, although it may spin for
 * a second. */
void test_busy(void) {
    enum { ALL = 1024 };
    cpu_set_t mask;
    pthread_t others[ALL];
    int count = 0, is_early = 0;
    cpu_max = "max 100000\n";
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    for (intptr_t cpu = 0; cpu < ALL; cpu++) {
        if (CPU_ISSET(cpu, &mask)) {
            CHECK(pthread_create(&others[count++], NULL, occupy, (void *)cpu) == 0);
        }
    }
    lw_set_threads(2);
    lw_set_spin(LW_MAX_SPIN);
    for (int attempt = 0; attempt < 5 && !is_early; attempt++) {
        await_sleep();
        hold_meeting(2);
        is_early = sleep_early();
    }
    CHECK(is_early);
    atomic_store(&is_over, 1);
    while (count--) {
        CHECK(pthread_join(others[count], NULL) == 0);
    }
}

/* By default, a worker spins for 50 us. The clock advances by 1 us at each reading; both threads of a call read it,
 * each while it waits for the other, or for the next call. */
void test_spin_time(void) {
    if (!use_two_processors()) {
        return;
    }
    atomic_store(&step, US);
    lw_set_threads(2);
    for (int turn = 0; turn < 10; turn++) {
        await_sleep();
        int64_t before = atomic_load(&now);
        hold_meeting(2);
        await_sleep();
        int64_t used = atomic_load(&now) - before;
        CHECK(used > 40 * US && used < 400 * US);
    }
}

static pthread_t worker;

static lw_status note_worker(lw_context *context, int64_t index, const void *argument) {
    const meeting *m = argument;
    if (!pthread_equal(pthread_self(), m->caller)) {
        worker = pthread_self();
    }
    return meet(context, index, argument);
}

/* Calls with two threads, one of which is `worker`. */
static void call_worker(void) {
    meeting m = {.expected = 2, .caller = pthread_self()};
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, 2, 2, note_worker, &m, never) == LW_OK);
}

/* Returns how many nanoseconds the worker has run. */
static int64_t worker_time(void) {
    clockid_t clock;
    struct timespec used;
    CHECK(pthread_getcpuclockid(worker, &clock) == 0 && clock_gettime(clock, &used) == 0);
    return used.tv_sec * (int64_t)1000000000 + used.tv_nsec;
}

/* Returns how often the worker has been switched: how often all threads have been, except this one. */
static long worker_switches(void) {
    struct rusage all, own;
    CHECK(getrusage(RUSAGE_SELF, &all) == 0 && getrusage(RUSAGE_THREAD, &own) == 0);
    return all.ru_nvcsw + all.ru_nivcsw - own.ru_nvcsw - own.ru_nivcsw;
}

/* With the default settings, a worker sleeps a millisecond after a call, in one of many attempts: on a busy machine, it
 * may be late. While it sleeps, it does not run at all. */
void test_rest(void) {
    lw_set_threads(2);
    int rests = 0, sleeps = 0;
    for (int attempt = 0; attempt < 100 && !sleeps; attempt++) {
        call_worker();
        usleep(1000);
        sleeps = lw_ready_workers() == 0;
    }
    CHECK(sleeps);
    for (int attempt = 0; attempt < 10 && !rests; attempt++) {
        call_worker();
        await_sleep();
        usleep(1000); /* it counts as asleep just before it sleeps */
        int64_t time = worker_time();
        long switches = worker_switches();
        usleep(200000);
        rests = worker_time() == time && worker_switches() == switches;
    }
    CHECK(rests);
}
