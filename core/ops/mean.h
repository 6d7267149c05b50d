/* The float32 sum divided by the number of elements. The division is in double, because float32 does not hold every
 * number of elements exactly. The mean of no elements is NaN. */
#pragma once

#include "reduce/reduction.h"

static inline float mean_of(float total, int64_t count) {
    return count ? (float)((double)total / (double)count) : __builtin_nanf("");
}

REDUCTION(mean, float32, float32, vf32_set(-0.0f), x, a + b, mean_of(total, count))
