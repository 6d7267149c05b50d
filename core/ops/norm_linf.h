/* The largest absolute value. Bits of floats without sign are in the order of the floats, with NaN above all others. */
#pragma once

#include "reduction.h"

REDUCTION(norm_linf, float32, float32, vf32_set(0), vf32_abs(x), vi32_max(vf32_bits(a), vf32_bits(b)), total)
