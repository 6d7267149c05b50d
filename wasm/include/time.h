/* See stdlib.h. In Emscripten's ABI time_t has 64 bits and long has 32. */
#ifndef LANEWISE_WASM_TIME_H
#define LANEWISE_WASM_TIME_H

typedef long long time_t;
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

int clock_gettime(int clock, struct timespec *now);

#endif
