/* Tests that workers are woken on processors of their own, and that their affinity masks are kept. */
#define _GNU_SOURCE
#include "steering.h"
#include "pool.h"
#include <dirent.h>
#include <sched.h>
#include <string.h>

enum { ROUNDS = 40 };

static cpu_set_t mask_of(int thread) {
    cpu_set_t mask;
    CHECK(sched_getaffinity(thread, sizeof mask, &mask) == 0);
    return mask;
}

static int lowest(const cpu_set_t *mask) {
    int number = 0;
    while (!CPU_ISSET(number, mask)) {
        number++;
    }
    return number;
}

static cpu_set_t only(int number) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(number, &mask);
    return mask;
}

/* Calls visit(thread, mask) for all threads of the process. */
static void for_threads(void (*visit)(int thread, const cpu_set_t *mask), const cpu_set_t *mask) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] != '.') {
            visit(atoi(task->d_name), mask);
        }
    }
    closedir(tasks);
}

static void set_mask(int thread, const cpu_set_t *mask) { CHECK(sched_setaffinity(thread, sizeof *mask, mask) == 0); }

static void check_mask(int thread, const cpu_set_t *mask) {
    cpu_set_t found = mask_of(thread);
    CHECK(CPU_EQUAL(&found, mask));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int sleeper, is_woken;
static lw_processors former;
static cpu_set_t restored;

static void *sleep_once(void *unused) {
    pthread_mutex_lock(&mutex);
    sleeper = lw_thread();
    pthread_cond_signal(&changed);
    while (!is_woken) {
        pthread_cond_wait(&changed, &mutex);
    }
    lw_end_steering(&former);
    restored = mask_of(0);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* Taken processors are excluded until the thread runs again, unless none would be left. */
void test_steering(void) {
    const cpu_set_t whole = mask_of(0);
    int first = lowest(&whole);
    lw_processors taken = {0};
    lw_add_processor(&taken, -1);
    lw_add_processor(&taken, LW_STEERED_PROCESSORS);
    lw_add_processor(&taken, first);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sleep_once, NULL) == 0);
    pthread_mutex_lock(&mutex);
    while (!sleeper) {
        pthread_cond_wait(&changed, &mutex);
    }
    int expected = lw_steer(sleeper, first, &taken, &former);
    cpu_set_t left = whole;
    if (CPU_COUNT(&whole) > 1) {
        CPU_CLR(first, &left);
        CHECK(expected == lowest(&left));
    } else {
        CHECK(expected == -1);
    }
    check_mask(sleeper, &left);
    lw_processors again;
    CHECK(lw_steer(sleeper, expected, &taken, &again) == expected); /* excludes nothing more, so nothing is restored */
    lw_end_steering(&again);
    check_mask(sleeper, &left);
    check_mask(0, &whole);
    memset(&taken, 0xff, sizeof taken);
    CHECK(lw_steer(sleeper, expected, &taken, &again) == -1);
    check_mask(sleeper, &left);
    is_woken = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(CPU_EQUAL(&restored, &whole));
}

typedef struct pair {
    atomic_int present;
    int processors[2];
} pair;

/* Waits for the other thread without giving up the processor, on which that one may wait. */
static lw_status meet_apart(lw_context *context, int64_t index, const void *argument) {
    (void)context;
    pair *both = (pair *)argument;
    both->processors[index] = lw_processor();
    atomic_fetch_add(&both->present, 1);
    while (atomic_load(&both->present) < 2) {
    }
    return LW_OK;
}

/* Returns in how many of ROUNDS both threads of a call began on one processor, when the worker has been woken. */
static int rounds_on_one_processor(void) {
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        await_sleep();
        pair both = {0};
        lw_context context = {0};
        CHECK(lw_share_tasks(&context, 2, 2, meet_apart, &both, never) == LW_OK);
        found += both.processors[0] == both.processors[1];
    }
    return found;
}

static atomic_int is_over;

static void *keep_busy(void *unused) {
    while (!atomic_load(&is_over)) {
    }
    return unused;
}

/* A worker that is woken runs beside the caller, also while other threads keep all processors busy. The system may
 * still move one to the other's processor, in up to a quarter of the rounds. The worker's mask stays what the process's
 * is, or what somebody sets while it sleeps. */
void test_apart(void) {
    const cpu_set_t whole = mask_of(0), one = only(lowest(&whole));
    int processors = CPU_COUNT(&whole);
    pthread_t busy[LW_STEERED_PROCESSORS];
    for (int i = 0; i < processors; i++) {
        CHECK(pthread_create(&busy[i], NULL, keep_busy, NULL) == 0);
    }
    lw_set_threads(2);
    int together = rounds_on_one_processor();
    CHECK(processors == 1 || together < ROUNDS / 4);
    atomic_store(&is_over, 1);
    for (int i = 0; i < processors; i++) {
        CHECK(pthread_join(busy[i], NULL) == 0);
    }
    await_sleep();
    CHECK(threads_of_process() == 2);
    for_threads(check_mask, &whole);
    for_threads(set_mask, &one);
    CHECK(rounds_on_one_processor() == ROUNDS);
    await_sleep();
    for_threads(check_mask, &one);
}
