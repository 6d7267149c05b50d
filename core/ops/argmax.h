/* The index of the first largest element. NaN counts as the largest. */
#pragma once

#include "ops/max.h"
#include "reduce/index_reduction.h"

INDEX_REDUCTION(argmax, max, choice_key_of(x))
