/* Tests the thread pool without Python. A test prints nothing and exits with 0, or prints the failed check and exits
 * with 1. test_threads.py builds this program with and without ThreadSanitizer.
 *
 *     threads NAME            runs a test
 *     threads cores ROOT      prints the limit on cores that the control group files under ROOT set, how many of 4 it
 *                             leaves, and whether it leaves less than their time */
#define _GNU_SOURCE
#include "pool.h"
#include "pool/cores.h"
#include "system/float_modes.h"
#include <fenv.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

int never(void *host) { return host != NULL && *(int *)host < 0; }

static lw_status mark(lw_context *context, int64_t index, const void *argument) {
    (void)context;
    board *b = (board *)argument;
    b->cells[index] += index + 1;
    return LW_OK;
}

void share_and_check(board *b, int64_t count, int threads) {
    memset(b->cells, 0, sizeof b->cells);
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, threads, count, mark, b, never) == LW_OK);
    for (int64_t i = 0; i < MAX_TASKS; i++) {
        CHECK(b->cells[i] == (i < count ? i + 1 : 0));
    }
}

static void *share_often(void *seed) {
    unsigned state = (unsigned)(uintptr_t)seed;
    board *b = malloc(sizeof *b);
    for (int turn = 0; turn < 2000; turn++) {
        int64_t count = rand_r(&state) % (turn % 2 ? MAX_TASKS : 9);
        share_and_check(b, count, 1 + rand_r(&state) % 9);
        if (rand_r(&state) % 16 == 0) {
            lw_set_threads(1 + rand_r(&state) % 8);
        }
        if (rand_r(&state) % 64 == 0) {
            usleep(200); /* long enough for workers to fall asleep */
        }
    }
    free(b);
    return NULL;
}

/* Every task runs once, while several threads share tasks and the number of threads changes. */
static void test_callers(void) {
    lw_set_threads(4);
    pthread_t callers[CALLERS];
    for (uintptr_t i = 0; i < CALLERS; i++) {
        CHECK(pthread_create(&callers[i], NULL, share_often, (void *)(i + 1)) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
    }
}

static lw_status fail_from(lw_context *context, int64_t index, const void *argument) {
    int64_t first = *(const int64_t *)argument;
    if (index < first) {
        return LW_OK;
    }
    if (index == first) {
        usleep(300); /* so that tasks with larger indices fail before this one */
    }
    context->bad_index = index;
    snprintf(context->message, sizeof context->message, "task %d", (int)index);
    return index % 2 ? LW_BAD_INDEX : LW_DEVICE_ERROR;
}

/* Of several failing tasks, the one with the smallest index is reported, even if others fail earlier. */
static void test_failures(void) {
    lw_set_threads(4);
    for (int64_t first = 0; first < 60; first++) {
        lw_context context = {0};
        lw_status status = lw_share_tasks(&context, 4, 64, fail_from, &first, never);
        char message[32];
        snprintf(message, sizeof message, "task %d", (int)first);
        CHECK(status == (first % 2 ? LW_BAD_INDEX : LW_DEVICE_ERROR));
        CHECK(first % 2 ? context.bad_index == first : strcmp(context.message, message) == 0);
    }
}

static int after_three(void *host) { return ++*(int *)host > 3; }

lw_status slow(lw_context *context, int64_t index, const void *argument) {
    (void)context, (void)index;
    atomic_fetch_add((atomic_int *)argument, 1);
    usleep(100);
    return LW_OK;
}

/* Only the calling thread calls after_three(), which returns whether to stop. After that, each thread finishes its task
 * and starts no other, except for one that it is just claiming. */
static void test_interruption(void) {
    lw_set_threads(4);
    int asked = 0;
    atomic_int done = 0;
    lw_context context = {.host = &asked};
    CHECK(lw_share_tasks(&context, 4, 100000, slow, &done, after_three) == LW_INTERRUPTED);
    CHECK(asked == 4);
    CHECK(atomic_load(&done) < 10000); /* the caller may have waited for a processor meanwhile */
}

static lw_status run_slow_tasks(lw_context *context, int64_t index, const void *argument) {
    (void)index;
    return context->run(context, 1000, slow, argument);
}

/* If a task itself shares tasks, these run one after another on its thread. An interruption of the call stops
 * them on all threads. */
static void test_nested(void) {
    lw_set_threads(4);
    int asked = 4; /* above 3, so that after_three() interrupts at once */
    atomic_int done = 0;
    lw_context context = {.host = &asked};
    CHECK(lw_share_tasks(&context, 4, 4, run_slow_tasks, &done, after_three) == LW_INTERRUPTED);
    CHECK(atomic_load(&done) < 3000);
    atomic_store(&done, 0);
    context.host = NULL;
    CHECK(lw_share_tasks(&context, 4, 2, run_slow_tasks, &done, never) == LW_OK);
    CHECK(atomic_load(&done) == 2000);
}

static void check_modes(void) {
    CHECK((lw_float_modes_get() & LW_FLOAT_MODES_MASK) == LW_FLOAT_MODES_DEFAULT);
    volatile float one = 1, little = 0x1p-30f;
    CHECK(one + little == one);
}

lw_status meet(lw_context *context, int64_t index, const void *argument) {
    (void)context, (void)index;
    meeting *m = (meeting *)argument;
    if (!pthread_equal(pthread_self(), m->caller)) {
        check_modes();
    }
    atomic_fetch_add(&m->present, 1);
    while (atomic_load(&m->present) < m->expected) {
        usleep(10);
    }
    return LW_OK;
}

void hold_meeting(int threads) {
    meeting m = {.expected = threads, .caller = pthread_self()};
    lw_context context = {0};
    CHECK(lw_share_tasks(&context, threads, threads, meet, &m, never) == LW_OK);
}

/* All configured threads work at once. Workers have the default floating-point modes, whatever the modes of the thread
 * that starts them. */
static void test_modes(void) {
    lw_set_threads(5);
    fesetround(FE_UPWARD);
    hold_meeting(5);
    volatile float one = 1, little = 0x1p-30f;
    CHECK(one + little > one);
    lw_float_modes before = lw_float_modes_set_default();
    check_modes();
    lw_float_modes_restore(before);
    CHECK(one + little > one);
}

/* Setting and restoring the modes keeps the flags of floating-point exceptions, which accumulate. */
static void test_flags(void) {
    feraiseexcept(FE_INVALID);
    lw_float_modes before = lw_float_modes_set_default();
    CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_INVALID);
    feraiseexcept(FE_DIVBYZERO);
    lw_float_modes_restore(before);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == (FE_INVALID | FE_DIVBYZERO));
}

void await_ready(int most) {
    for (int turn = 0; turn < 2000 && lw_ready_workers() > most; turn++) {
        usleep(1000);
    }
    CHECK(lw_ready_workers() <= most);
}

void await_sleep(void) { await_ready(0); }

static double seconds_of_work(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int threads_of_process(void) {
#if defined(__SANITIZE_THREAD__)
    enum { OTHERS = 1 }; /* the sanitizer's, which starts with the first thread of the program */
#else
    enum { OTHERS = 0 };
#endif
    FILE *file = fopen("/proc/self/stat", "r");
    char text[1024] = "";
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    int threads;
    CHECK(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                 &threads) == 1);
    return threads - OTHERS;
}

/* Idle workers use no processor time, and surplus workers exit. */
static void test_idle(void) {
    lw_set_threads(4);
    hold_meeting(4);
    await_sleep();
    lw_set_threads(5); /* wakes the workers, which find no job */
    await_sleep();
    double before = seconds_of_work();
    usleep(300000);
    CHECK(seconds_of_work() - before < 0.01);
    lw_set_threads(1);
    for (int turn = 0; turn < 200 && threads_of_process() > 1; turn++) {
        usleep(10000);
    }
    CHECK(threads_of_process() == 1);
}

static atomic_int is_over;

static void *share_until_over(void *unused) {
    board *b = malloc(sizeof *b);
    while (!atomic_load(&is_over)) {
        share_and_check(b, 50, 4);
    }
    free(b);
    return unused;
}

static void await(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* fork() while another thread shares tasks: the child's first call starts its own workers. */
static void test_fork(void) {
    lw_set_threads(4);
    pthread_t caller;
    CHECK(pthread_create(&caller, NULL, share_until_over, NULL) == 0);
    for (int turn = 0; turn < 50; turn++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            hold_meeting(4);
            hold_meeting(4);
            _Exit(0);
        }
        await(child);
    }
    atomic_store(&is_over, 1);
    pthread_join(caller, NULL);
}

/* This callback forks once, as a signal handler might. Workers do not exist in the child, so the tasks that they
 * were running are lost there, and the call returns an error in the child. */
static int fork_once(void *host) {
    pid_t *child = host;
    if (*child < 0) {
        *child = fork();
    }
    return 0;
}

/* The caller's first task ends only when all workers run tasks, so workers still have tasks when the caller forks. */
static lw_status meet_slowly(lw_context *context, int64_t index, const void *argument) {
    meet(context, index, argument);
    usleep(100);
    return LW_OK;
}

static void test_fork_inside(void) {
    lw_set_threads(4);
    meeting m = {.expected = 4, .caller = pthread_self()};
    pid_t child = -1;
    lw_context context = {.host = &child};
    lw_status status = lw_share_tasks(&context, 4, 100, meet_slowly, &m, fork_once);
    if (child == 0) {
        _Exit(status == LW_DEVICE_ERROR && strstr(context.message, "fork()") ? 0 : 1);
    }
    CHECK(status == LW_OK && atomic_load(&m.present) == 100);
    await(child);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"callers", test_callers},
    {"failures", test_failures},
    {"interruption", test_interruption},
    {"nested", test_nested},
    {"context", test_context},
    {"modes", test_modes},
    {"flags", test_flags},
    {"room", test_room},
    {"demand", test_demand},
    {"many", test_many},
    {"places", test_places},
    {"two_calls", test_two_calls},
    {"claims", test_claims},
    {"limit", test_limit},
    {"signals", test_signals},
    {"no_threads", test_no_threads},
    {"stack", test_stack},
    {"crowded", test_crowded},
    {"stopped", test_stopped},
    {"no_spin", test_no_spin},
    {"idle", test_idle},
    {"surplus", test_surplus},
    {"beside_callers", test_beside_callers},
    {"quota", test_quota},
    {"late", test_late},
    {"busy", test_busy},
    {"spin_time", test_spin_time},
    {"rest", test_rest},
    {"fork", test_fork},
    {"fork_inside", test_fork_inside},
};

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "cores") == 0) {
        int unused = dup(0);
        close(unused);
        double limit = lw_control_group_cores(words[2]);
        int has_quota, cores = lw_limit_cores(4, limit, &has_quota);
        printf("%.17g %d %d\n", limit, cores, has_quota);
        CHECK(dup(0) == unused); /* the function closed all its files */
        return 0;
    }
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (count == 2 && strcmp(words[1], tests[i].name) == 0) {
            tests[i].run();
            return 0;
        }
    }
    fprintf(stderr, "expected the name of a test\n");
    return 2;
}
