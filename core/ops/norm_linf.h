/* The largest absolute value. Compared as integers, the bits of |x| have the order of the floats, with NaN above all
 * numbers. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(norm_linf, 1, vec, element, v_set(0), v_abs(x), b_maximum(v_bits(a), v_bits(b)), total, 1)
