/* The largest element, by the operation maximum of IEEE 754-2019: NaN if any element is NaN, and -0 is below 0. */
#pragma once

#include "reduce/extreme.h"

EXTREME(max, -__builtin_inff(), vf32_at_least, extreme_and, vf32_maximum(a, b))
REDUCTION(max, int32, int32, vi32_set(INT32_MIN), x, vi32_max(a, b), total)
