/* The sum of squares. Squares that overflow or vanish do so in the result, too. */
#pragma once

#include "reduction.h"

REDUCTION(sum_of_squares, float32, float32, vf32_set(0), x *x, a + b, total)
REDUCTION(sum_of_squares, int32, int32, vi32_set(0), x *x, a + b, total)
