/* The first index of the smallest element; NaN counts as the smallest. Inverting all bits reverses integers' order. */
#ifndef LANEWISE_OPS_ARGMIN_H
#define LANEWISE_OPS_ARGMIN_H

#include "index_reduction.h"

INDEX_REDUCTION(argmin, float32, choice_key_float32(-x))
INDEX_REDUCTION(argmin, int32, ~x)

#endif
