/* Reads a clock. */
#pragma once

#include <stdint.h>

/* Returns the time since some moment, precise to a few milliseconds. Without a clock, in WebAssembly, each call returns
 * a second more than the last. */
int64_t lw_milliseconds(void);
