/* The sum of squares. Squares may overflow or underflow; norm_l2.h scales elements to avoid that. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(sum_of_squares, float32, float32, vf32_set(0), x *x, a + b, total)
REDUCTION(sum_of_squares, int32, int32, vi32_set(0), x *x, a + b, total)
