/* The sum of squares. Squares may overflow or underflow; norm_l2.h scales elements to avoid that. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(sum_of_squares, 1, vec, element, v_set(0), x *x, a + b, total, 1)
