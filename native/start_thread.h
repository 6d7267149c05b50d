/* Starts threads of the operating system. */
#pragma once

/* Starts a detached thread that calls run(number), and returns 0, or another number if the system refuses. The thread
 * has a stack for kernels, and blocks all signals but those that report its own faults. */
int lw_start_thread(void (*run)(int number), int number);
