/* Starts operating-system threads. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "pool/start_thread.h"
#include <stdint.h>
#include <stdlib.h>

enum { STACK_BYTES = 2 << 20 }; /* kernels use up to 100 KB; the default stacks of macOS and musl are small */

/* What a thread runs. On the heap, because the thread may begin after lw_start_thread() has returned. */
typedef struct {
    void (*run)(int);
    int number;
} start;

static start *new_start(void (*run)(int), int number) {
    start *new = malloc(sizeof *new);
    if (new) {
        *new = (start){run, number};
    }
    return new;
}

static void begin(void *argument) {
    start own = *(start *)argument;
    free(argument);
    own.run(own.number);
}

#if defined(_WIN32)

void *__stdcall CreateThread(void *, size_t, unsigned long(__stdcall *)(void *), void *, unsigned long,
                             unsigned long *);
int __stdcall CloseHandle(void *);

static unsigned long __stdcall begin_on_windows(void *argument) {
    begin(argument);
    return 0;
}

int lw_start_thread(void (*run)(int number), int number) {
    enum { RESERVE_STACK = 0x10000 };
    start *new = new_start(run, number);
    void *thread = new ? CreateThread(NULL, STACK_BYTES, begin_on_windows, new, RESERVE_STACK, NULL) : NULL;
    if (!thread) {
        free(new);
        return -1;
    }
    CloseHandle(thread);
    return 0;
}

#else

#include <pthread.h>
#include <signal.h>

static void *begin_on_posix(void *argument) {
    begin(argument);
    return NULL;
}

/* Blocks all signals except those that report a fault of the thread itself. Python's threads handle the others. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t signals;
    sigfillset(&signals);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        sigdelset(&signals, own[i]);
    }
    pthread_sigmask(SIG_SETMASK, &signals, before);
}

int lw_start_thread(void (*run)(int number), int number) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t signals;
    start *new = new_start(run, number);
    if (!new || pthread_attr_init(&attributes)) {
        free(new);
        return -1;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    block_signals(&signals); /* the thread inherits the mask */
    int failed = pthread_create(&thread, &attributes, begin_on_posix, new);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    pthread_attr_destroy(&attributes);
    if (failed) {
        free(new);
    }
    return failed;
}

#endif
