/* The sum. The identity of float addition is -0, because x + -0 is x even for -0. The sum of no elements is 0. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(sum, float32, float32, vf32_set(-0.0f), x, a + b, count ? total : 0)
REDUCTION(sum, int32, int32, vi32_set(0), x, a + b, total)
