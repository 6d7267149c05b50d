/* The sum divided by the number of elements. The division is in double, because float32 does not hold every
 * number of elements exactly. The mean of no elements is NaN. */
#pragma once

#include "ops/sum.h"

static inline element mean_of(element total, int64_t count) {
    return count ? (element)((double)total / (double)count) : __builtin_nanf("");
}

REDUCTION_FINISHED(mean, sum, 1, vec, element, mean_of(total, count), REDUCE_UNDECIDED, NULL, NULL)
