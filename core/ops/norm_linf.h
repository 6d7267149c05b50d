/* The largest absolute value. Compared as integers, the bits of |x| have the order of the floats, with NaN above all
 * numbers. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(norm_linf, float32, float32, vf32_set(0), vf32_abs(x), vi32_max(vf32_bits(a), vf32_bits(b)), total)
