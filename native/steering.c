/* Affinity masks of single threads. */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_getcpu, syscall, and masks of threads */
#endif
#include "steering.h"

void lw_add_processor(lw_processors *set, int number) {
    if (number >= 0 && number < LW_STEERED_PROCESSORS) {
        set->bits[number / 64] |= (uint64_t)1 << number % 64;
    }
}

#if defined(__linux__)

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int lw_processor(void) { return sched_getcpu(); }

int lw_thread(void) { return (int)syscall(SYS_gettid); }

static int has_processor(const lw_processors *set, int number) {
    return number >= 0 && number < LW_STEERED_PROCESSORS && set->bits[number / 64] >> number % 64 & 1;
}

/* Returns the lowest number in a set, or -1. */
static int lowest(const lw_processors *set) {
    for (int word = 0; word < LW_STEERED_PROCESSORS / 64; word++) {
        if (set->bits[word]) {
            return 64 * word + __builtin_ctzll(set->bits[word]);
        }
    }
    return -1;
}

/* If Linux finds no idle processor, it chooses the last one, or else the lowest in the mask. */
int lw_steer(int thread, int last, const lw_processors *taken, lw_processors *former) {
    lw_processors mask = {0}, left;
    *former = mask;
    if (sched_getaffinity(thread, sizeof mask, (cpu_set_t *)&mask)) {
        return -1;
    }
    int is_less = 0;
    for (int word = 0; word < LW_STEERED_PROCESSORS / 64; word++) {
        left.bits[word] = mask.bits[word] & ~taken->bits[word];
        is_less |= left.bits[word] != mask.bits[word];
    }
    int expected = has_processor(&left, last) ? last : lowest(&left);
    if (is_less && expected >= 0 && !sched_setaffinity(thread, sizeof left, (cpu_set_t *)&left)) {
        *former = mask;
    }
    return expected;
}

void lw_end_steering(const lw_processors *former) {
    if (lowest(former) >= 0) {
        sched_setaffinity(0, sizeof *former, (const cpu_set_t *)former);
    }
}

#else

int lw_processor(void) { return -1; }

int lw_thread(void) { return 0; }

int lw_steer(int thread, int last, const lw_processors *taken, lw_processors *former) {
    (void)thread, (void)last, (void)taken;
    *former = (lw_processors){0};
    return -1;
}

void lw_end_steering(const lw_processors *former) { (void)former; }

#endif
