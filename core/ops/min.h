/* The smallest element, by the operation minimum of IEEE 754-2019: NaN if any element is NaN, and -0 is below 0. */
#pragma once

#include "reduce/extreme.h"

EXTREME(min, __builtin_inff(), vf32_at_most, extreme_or, vf32_minimum(a, b))
REDUCTION(min, int32, int32, vi32_set(INT32_MAX), x, vi32_min(a, b), total)
