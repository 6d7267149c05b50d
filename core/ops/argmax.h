/* The first index of the largest element; NaN counts as the largest. */
#include "index_reduction.h"

INDEX_REDUCTION(argmax, float32, choice_key_float32(x))
INDEX_REDUCTION(argmax, int32, x)
INDEX_REDUCTION(argmax, bool, vm32_to_vi32(x))
