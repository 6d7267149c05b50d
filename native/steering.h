/* Steers threads that are woken to processors that the pool's other threads do not use.
 *
 * Linux wakes a thread on an idle processor, but in a virtual machine under KVM it does not find one: a processor that
 * halts looks like one that the host has taken away. So it often wakes the thread on the processor of the thread that
 * wakes it, and there it waits, for milliseconds, while the other one works. Excluding that processor from the sleeping
 * thread's affinity mask prevents this; the thread restores its mask when it runs again. */
#pragma once

#include <stdint.h>

enum { LW_STEERED_PROCESSORS = 1024 }; /* on a machine that can have more, and on other systems, nothing is steered */

/* A set of processors, one bit each. */
typedef struct lw_processors {
    uint64_t bits[LW_STEERED_PROCESSORS / 64];
} lw_processors;

/* Returns the number of the processor that runs this thread, or -1 if that is unknown or threads cannot be steered. */
int lw_processor(void);

/* Adds a processor to a set; a number that is out of range adds nothing. */
void lw_add_processor(lw_processors *set, int number);

/* Returns the number by which lw_steer() knows the calling thread. */
int lw_thread(void);

/* Excludes the processors in `taken` from the affinity mask of a sleeping thread, which last ran on `last`, unless that
 * leaves none. Returns the processor on which the thread is then expected to run, or -1. `former` becomes the mask
 * before, or empty if the mask stays. */
int lw_steer(int thread, int last, const lw_processors *taken, lw_processors *former);

/* Gives the calling thread its former mask again, unless that is empty. */
void lw_end_steering(const lw_processors *former);
