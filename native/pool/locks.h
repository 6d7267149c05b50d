/* The operating system's mutexes and condition variables, and a pause for spin loops. */
#pragma once

#include <stddef.h>

#if defined(_WIN32)

typedef struct {
    void *pointer;
} lw_mutex, lw_condition; /* SRWLOCK and CONDITION_VARIABLE; initialized by zeros */

void __stdcall AcquireSRWLockExclusive(lw_mutex *);
void __stdcall ReleaseSRWLockExclusive(lw_mutex *);
int __stdcall SleepConditionVariableSRW(lw_condition *, lw_mutex *, unsigned long, unsigned long);
void __stdcall WakeConditionVariable(lw_condition *);
void __stdcall WakeAllConditionVariable(lw_condition *);

#define LW_MUTEX_INIT {NULL}
#define LW_CONDITION_INIT {NULL}
static inline void lw_lock(lw_mutex *m) { AcquireSRWLockExclusive(m); }
static inline void lw_unlock(lw_mutex *m) { ReleaseSRWLockExclusive(m); }
static inline void lw_wait(lw_condition *c, lw_mutex *m) { SleepConditionVariableSRW(c, m, 0xffffffff, 0); }
static inline void lw_wake_one(lw_condition *c) { WakeConditionVariable(c); }
static inline void lw_wake_all(lw_condition *c) { WakeAllConditionVariable(c); }

#else

#include <pthread.h>

typedef pthread_mutex_t lw_mutex;
typedef pthread_cond_t lw_condition;
#define LW_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define LW_CONDITION_INIT PTHREAD_COND_INITIALIZER
static inline void lw_lock(lw_mutex *m) { pthread_mutex_lock(m); }
static inline void lw_unlock(lw_mutex *m) { pthread_mutex_unlock(m); }
static inline void lw_wait(lw_condition *c, lw_mutex *m) { pthread_cond_wait(c, m); }
static inline void lw_wake_one(lw_condition *c) { pthread_cond_signal(c); }
static inline void lw_wake_all(lw_condition *c) { pthread_cond_broadcast(c); }

#endif

/* Tells the processor that this is a spin loop. */
static inline void lw_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* not yield, which is a no-op on most processors */
#endif
}
