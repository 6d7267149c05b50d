/* The index of the first largest element. NaN counts as the largest. */
#pragma once

#include "reduce/index_reduction.h"

INDEX_REDUCTION(argmax, float32, choice_key_float32(x))
INDEX_REDUCTION(argmax, int32, x)
