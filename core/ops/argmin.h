/* The index of the first smallest element. NaN counts as the smallest. Of integers, ~x reverses the order without
 * overflow. */
#pragma once

#include "ops/min.h"
#include "reduce/index_reduction.h"

INDEX_REDUCTION(argmin, min, IS_FLOATING ? choice_key_of(-x) : ~choice_key_of(x))
