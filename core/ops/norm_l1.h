/* The sum of absolute values. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(norm_l1, float32, float32, vf32_set(0), vf32_abs(x), a + b, total)
