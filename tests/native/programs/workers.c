/* Tests which workers a call gets, what they receive and how they are started. threads.c has the other tests of the
 * pool, and main(). */
#define _GNU_SOURCE
#include "pool.h"
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Returns whether two contexts agree in all bytes, except in the fields that a task gets its own values of. */
static int agree(const lw_context *a, const lw_context *b) {
    static const struct {
        size_t start, bytes;
    } own[] = {{offsetof(lw_context, run), sizeof a->run},
               {offsetof(lw_context, host), sizeof a->host},
               {offsetof(lw_context, threads), sizeof a->threads},
               {offsetof(lw_context, tasks), sizeof a->tasks},
               {offsetof(lw_context, bad_index), sizeof a->bad_index},
               {offsetof(lw_context, message), sizeof a->message}};
    for (size_t i = 0; i < sizeof *a; i++) {
        int is_own = 0;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            is_own |= i - own[k].start < own[k].bytes;
        }
        if (!is_own && ((const char *)a)[i] != ((const char *)b)[i]) {
            return 0;
        }
    }
    return 1;
}

typedef struct original {
    const lw_context *context;
    pthread_t caller;
    atomic_int present;
    int expected;
} original;

static lw_status compare(lw_context *context, int64_t index, const void *argument) {
    (void)index;
    const original *o = argument;
    CHECK(agree(context, o->context));
    CHECK(context->host == (pthread_equal(pthread_self(), o->caller) ? o->context->host : NULL));
    return LW_OK;
}

static lw_status compare_on_all_threads(lw_context *context, int64_t index, const void *argument) {
    original *o = (original *)argument;
    atomic_fetch_add(&o->present, 1);
    while (atomic_load(&o->present) < o->expected) {
        usleep(10);
    }
    compare(context, index, argument);
    return context->run(context, 2, compare, argument);
}

/* A task's context has the caller's allocator, stream and cache size, and any field added to lw_context later. */
void test_context(void) {
    int zero = 0;
    lw_context context;
    memset(&context, 0x5a, sizeof context);
    context.host = &zero;
    lw_set_threads(4);
    for (int threads = 1; threads <= 4; threads++) {
        original o = {.context = &context, .caller = pthread_self(), .expected = threads};
        CHECK(lw_share_tasks(&context, threads, threads, compare_on_all_threads, &o, never) == LW_OK);
    }
}

typedef struct visit {
    atomic_int present;
    int limit;
} visit;

static lw_status count_visitors(lw_context *context, int64_t index, const void *argument) {
    (void)context, (void)index;
    visit *v = (visit *)argument;
    CHECK(atomic_fetch_add(&v->present, 1) < v->limit);
    usleep(50);
    atomic_fetch_sub(&v->present, 1);
    return LW_OK;
}

/* A call gets at most as many threads as it may use, even if more workers are looking for jobs. */
void test_room(void) {
    lw_set_threads(8);
    for (int turn = 0; turn < 100; turn++) {
        hold_meeting(8);
        visit v = {.limit = 1 + turn % 3};
        lw_context context = {0};
        CHECK(lw_share_tasks(&context, v.limit, 16, count_visitors, &v, never) == LW_OK);
    }
}

/* Calls start no more workers than one of them may use, although a worker can join a job before the caller has counted
 * those that are free. */
void test_demand(void) {
    lw_set_threads(8);
    board *b = malloc(sizeof *b);
    for (int turn = 0; turn < 20000; turn++) {
        share_and_check(b, 9, 2);
    }
    free(b);
    CHECK(threads_of_process() == 2);
}

/* A call may use fewer threads than a job has ranges (LW_MAX_RANGES in native/pool/job.h), as many, or more. */
void test_many(void) {
    static const int numbers[] = {63, 64, 65, 66, 100};
    lw_set_threads(100);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        hold_meeting(numbers[i]);
    }
}

static _Thread_local int64_t place = -1;

static lw_status meet_at_place(lw_context *context, int64_t index, const void *argument) {
    CHECK(place < 0 || place == index);
    place = index;
    return meet(context, index, argument);
}

/* In successive jobs, each thread starts with the same tasks, and the caller with the first ones. */
void test_places(void) {
    lw_set_threads(4);
    place = 0;
    for (int turn = 0; turn < 20; turn++) {
        meeting m = {.expected = 4, .caller = pthread_self()};
        lw_context context = {0};
        CHECK(lw_share_tasks(&context, 4, 4, meet_at_place, &m, never) == LW_OK);
    }
}

static void *join_meeting(void *argument) {
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, 3, 3, meet, argument, never) == LW_OK);
    return NULL;
}

/* While one call's workers are busy, another call gets the remaining workers. In the first turn they are started; in
 * later turns they sleep and are woken. */
void test_two_calls(void) {
    lw_set_threads(5);
    for (int turn = 0; turn < 3; turn++) {
        meeting m = {.expected = 6, .caller = pthread_self()};
        pthread_t first;
        CHECK(pthread_create(&first, NULL, join_meeting, &m) == 0);
        while (atomic_load(&m.present) < 3) {
            usleep(10);
        }
        join_meeting(&m);
        pthread_join(first, NULL);
        usleep(20000); /* long enough for workers to fall asleep */
    }
}

typedef struct claims {
    int64_t held; /* the task that does not end before all others have */
    atomic_int ended;
} claims;

enum { CLAIMED = 400, CLAIM_POLLS = 100000 /* of at least 100 us; only a test that fails takes so long */ };

static lw_status hold_one(lw_context *context, int64_t index, const void *argument) {
    (void)context;
    claims *c = (claims *)argument;
    for (int poll = 0; index == c->held && poll < CLAIM_POLLS && atomic_load(&c->ended) < CLAIMED - 1; poll++) {
        usleep(100);
    }
    CHECK(index != c->held || atomic_load(&c->ended) == CLAIMED - 1);
    atomic_fetch_add(&c->ended, 1);
    return LW_OK;
}

/* While one thread is held by the first task of a range, the others run all other tasks of that range, too: threads
 * claim tasks one at a time, in every range. */
void test_claims(void) {
    lw_set_threads(4);
    for (int64_t held = 0; held < CLAIMED; held += CLAIMED / 4) {
        claims c = {.held = held};
        lw_context context = {0};
        CHECK(lw_share_tasks(&context, 4, CLAIMED, hold_one, &c, never) == LW_OK);
        CHECK(atomic_load(&c.ended) == CLAIMED);
    }
}

static lw_status check_worker(lw_context *context, int64_t index, const void *argument) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    const meeting *m = argument;
    if (!pthread_equal(pthread_self(), m->caller)) {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        for (int signal = 1; signal < 32; signal++) {
            int is_fault = signal == SIGKILL || signal == SIGSTOP; /* these two cannot be blocked */
            for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
                is_fault |= signal == faults[i];
            }
            CHECK(sigismember(&blocked, signal) == !is_fault);
        }
        pthread_attr_t attributes;
        int state;
        CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
        CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
        pthread_attr_destroy(&attributes);
    }
    return meet(context, index, argument);
}

/* Workers block all signals except those that a fault in the thread itself raises. They are detached, because nothing
 * joins them. The caller's signal mask does not change. */
void test_signals(void) {
    sigset_t set, before, after;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    lw_set_threads(4);
    meeting m = {.expected = 4, .caller = pthread_self()};
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, 4, 4, check_worker, &m, never) == LW_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < 32; signal++) {
        CHECK(sigismember(&before, signal) == sigismember(&after, signal));
    }
}

/* If the system cannot create threads, the caller does all the work. Later calls try again. */
void test_no_threads(void) {
    board *b = malloc(sizeof *b);
    struct rlimit before, none;
    CHECK(b && getrlimit(RLIMIT_AS, &before) == 0);
    none = before;
    none.rlim_cur = 0; /* no memory for stacks */
    lw_set_threads(4);
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    share_and_check(b, 50, 4);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    hold_meeting(4);
    free(b);
}

static atomic_int calls_are_over;

static lw_status count_threads(lw_context *context, int64_t index, const void *argument) {
    (void)context, (void)index;
    CHECK(threads_of_process() <= *(const int *)argument);
    return LW_OK;
}

static void *count_often(void *most) {
    for (int turn = 0; turn < 200; turn++) {
        lw_context context = {0};
        CHECK(lw_share_tasks(&context, 3, 6, count_threads, most, never) == LW_OK);
    }
    atomic_fetch_add(&calls_are_over, 1);
    while (atomic_load(&calls_are_over) < CALLERS) { /* the system may still count a thread that has ended */
        usleep(1000);
    }
    return NULL;
}

/* The pool starts no more workers than the limit allows, however many threads call. */
void test_limit(void) {
    lw_set_threads(3);
    int most = 1 + CALLERS + 2;
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_create(&callers[i], NULL, count_often, &most) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
    }
}

static long context_switches(void) {
    struct rusage used;
    CHECK(getrusage(RUSAGE_SELF, &used) == 0);
    return used.ru_nvcsw + used.ru_nivcsw;
}

/* With far more threads than processors, no thread spins, so a call takes only a few context switches per thread. Its
 * results are right. */
void test_crowded(void) {
    enum { THREADS = 32, CALLS = 200, SWITCHES = 4 * THREADS };
    cpu_set_t two;
    CHECK(sched_getaffinity(0, sizeof two, &two) == 0);
    for (int cpu = 0; CPU_COUNT(&two) > 2; cpu++) {
        CPU_CLR(cpu, &two);
    }
    CHECK(sched_setaffinity(0, sizeof two, &two) == 0);
    board *b = malloc(sizeof *b);
    lw_set_threads(THREADS);
    long before = context_switches();
    for (int call = 0; call < CALLS; call++) {
        share_and_check(b, MAX_TASKS, THREADS);
    }
    CHECK(context_switches() - before < CALLS * SWITCHES);
    free(b);
}

/* A process that is stopped while its workers work, spin or sleep continues correctly when it is resumed. */
void test_stopped(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        board *b = malloc(sizeof *b);
        lw_set_threads(4);
        for (int call = 0; call < 2000; call++) {
            share_and_check(b, call % 50, 4);
            usleep(call % 8 ? 0 : 200);
        }
        _Exit(0);
    }
    for (int turn = 0; turn < 10; turn++) {
        usleep(5000);
        kill(child, SIGSTOP);
        usleep(5000);
        kill(child, SIGCONT);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* If spinning is turned off, workers sleep as soon as a job has ended, and results are right. */
void test_no_spin(void) {
    board *b = malloc(sizeof *b);
    lw_set_spin(0);
    lw_set_threads(4);
    for (int call = 0; call < 200; call++) {
        share_and_check(b, 100, 4);
    }
    hold_meeting(4);
    await_sleep();
    free(b);
    int asleep = 0; /* after a millisecond, in one of many tries: the worker may be late to fall asleep */
    for (int turn = 0; turn < 100 && !asleep; turn++) {
        lw_set_spin(LW_MAX_SPIN);
        hold_meeting(2);
        lw_set_spin(0);
        hold_meeting(2);
        usleep(1000);
        asleep = lw_ready_workers() == 0;
    }
    CHECK(asleep);
}

/* Kernels use up to 100 KB of stack; a worker has room for ten times that. */
static lw_status use_stack(lw_context *context, int64_t index, const void *argument) {
    (void)context;
    enum { BYTES = 1 << 20 };
    volatile char memory[BYTES];
    for (int i = 0; i < BYTES; i += 1024) {
        memory[i] = (char)index;
    }
    return memory[BYTES / 2] == (char)index ? slow(context, index, argument) : LW_DEVICE_ERROR;
}

/* Simulates macOS and musl, where threads have small stacks by default. */
static void give_small_stacks(void) {
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 17) == 0);
    CHECK(pthread_setattr_default_np(&attributes) == 0);
    pthread_attr_destroy(&attributes);
}

void test_stack(void) {
    give_small_stacks();
    lw_set_threads(4);
    atomic_int done = 0;
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, 4, 100, use_stack, &done, never) == LW_OK);
    CHECK(atomic_load(&done) == 100);
}
