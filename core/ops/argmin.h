/* The index of the first smallest element. NaN counts as the smallest. For int32, ~x reverses the order without
 * overflow. */
#pragma once

#include "reduce/index_reduction.h"

INDEX_REDUCTION(argmin, float32, choice_key_float32(-x))
INDEX_REDUCTION(argmin, int32, ~x)
