/* Reads a clock. */
#pragma once

#include <stdint.h>

/* Returns the time since some moment, precise to a few milliseconds. Without a clock, in WebAssembly, each call returns
 * a second more than the last. */
int64_t lw_milliseconds(void);

#if !defined(__wasm__)
/* Returns the time since some moment in nanoseconds, as precisely as the system can tell. */
int64_t lw_clock_nanoseconds(void);
#endif
