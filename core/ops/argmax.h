/* The index of the first largest element. NaN counts as the largest. */
#pragma once

#include "reduce/index_reduction.h"

INDEX_REDUCTION(argmax, choice_key_of(x))
