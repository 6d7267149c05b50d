/* Reads the system's clocks. */
#pragma once

#include <stdint.h>

/* Returns the time since an arbitrary moment, precise to a few milliseconds. WebAssembly has no clock: there, each call
 * returns a second more than the last. */
int64_t lw_milliseconds(void);

#if !defined(__wasm__)
/* Returns the nanoseconds since an arbitrary moment, as precisely as the system measures them. */
int64_t lw_clock_nanoseconds(void);
#endif
