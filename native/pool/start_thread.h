/* Starts operating-system threads. */
#pragma once

/* Starts a detached thread that calls run(number). Returns 0, or another number if the thread cannot be created. The
 * thread's stack is large enough for kernels, and it blocks all signals except those that report its own faults. */
int lw_start_thread(void (*run)(int number), int number);
