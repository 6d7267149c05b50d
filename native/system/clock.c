/* Reads the system's clocks. */
#if !defined(_WIN32) && !defined(__wasm__)
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif
#include "system/clock.h"

#if defined(_WIN32)
unsigned long long __stdcall GetTickCount64(void);
int __stdcall QueryPerformanceCounter(int64_t *);
int __stdcall QueryPerformanceFrequency(int64_t *);
#elif !defined(__wasm__)
#include <time.h>
#endif

int64_t lw_milliseconds(void) {
#if defined(_WIN32)
    return (int64_t)GetTickCount64();
#elif defined(__wasm__)
    static int64_t milliseconds; /* each call is a second later than the last */
    return milliseconds += 1000;
#else
#if defined(CLOCK_MONOTONIC_COARSE) /* precise to a few milliseconds, but reading it does not serialize the pipeline */
    enum { CLOCK = CLOCK_MONOTONIC_COARSE };
#else
    enum { CLOCK = CLOCK_MONOTONIC };
#endif
    struct timespec now;
    clock_gettime(CLOCK, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
#endif
}

#if defined(_WIN32)

int64_t lw_clock_nanoseconds(void) {
    int64_t per_second, count;
    QueryPerformanceFrequency(&per_second);
    QueryPerformanceCounter(&count);
    return count / per_second * 1000000000 + count % per_second * 1000000000 / per_second;
}

#elif !defined(__wasm__)

int64_t lw_clock_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
