/* Whether any element is nonzero. NaN is nonzero. The result for no elements is false. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(any, bool, bool, vm32_set(0), x, a | b, total != 0)
REDUCTION(any, int32, bool, vm32_set(0), vi32_ne(x, vi32_set(0)), a | b, total != 0)
REDUCTION(any, float32, bool, vm32_set(0), vf32_ne(x, vf32_set(0)), a | b, total != 0)
