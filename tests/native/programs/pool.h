/* Declarations shared by threads.c, workers.c and spinning.c, the tests of the thread pool. */
#pragma once

#include "pool/threads.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_TASKS = 5000, CALLERS = 8 };

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _Exit(1);                                                       \
        }                                                                   \
    } while (0)

/* Each task writes its own cell without atomics, so that the sanitizer reports a race if a task runs twice, or while
 * the caller reads. */
typedef struct board {
    int64_t count;
    int64_t cells[MAX_TASKS];
} board;

/* Runs `count` tasks on the pool, each of which writes one cell, and checks that each ran once. */
void share_and_check(board *b, int64_t count, int threads);

/* A callback that does not ask to stop, provided that `host` is NULL or points to an int that is not negative. */
int never(void *host);

/* Increments the atomic_int that `argument` points to, and sleeps for 100 us. */
lw_status slow(lw_context *context, int64_t index, const void *argument);

typedef struct meeting {
    atomic_int present;
    int expected;
    pthread_t caller;
} meeting;

/* A task that checks a worker's floating-point modes and waits until `expected` tasks have started. */
lw_status meet(lw_context *context, int64_t index, const void *argument);

/* Runs `threads` tasks of meet(), which end only if as many threads run them at the same time. */
void hold_meeting(int threads);

int threads_of_process(void);

/* Waits until at most `most` workers are awake and idle. */
void await_ready(int most);

/* Waits until all workers sleep. */
void await_sleep(void);

/* The tests in spinning.c. */
void test_surplus(void);
void test_beside_callers(void);
void test_quota(void);
void test_late(void);
void test_busy(void);
void test_spin_time(void);
void test_rest(void);

/* The tests in workers.c. */
void test_context(void);
void test_room(void);
void test_demand(void);
void test_many(void);
void test_places(void);
void test_two_calls(void);
void test_claims(void);
void test_limit(void);
void test_signals(void);
void test_no_threads(void);
void test_stack(void);
void test_crowded(void);
void test_stopped(void);
void test_no_spin(void);
