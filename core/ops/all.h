/* Whether every element is nonzero. NaN is nonzero. The result for no elements is true. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(all, bool, bool, vm32_set(1), x, a &b, total != 0)
REDUCTION(all, int32, bool, vm32_set(1), vi32_ne(x, vi32_set(0)), a &b, total != 0)
REDUCTION(all, float32, bool, vm32_set(1), vf32_ne(x, vf32_set(0)), a &b, total != 0)
