/* The product; of nothing it is 1. */
#include "reduction.h"

REDUCTION(prod, float32, float32, vf32_set(1), x, a *b, total)
REDUCTION(prod, int32, int32, vi32_set(1), x, a *b, total)
REDUCTION(prod, bool, int32, vi32_set(1), vm32_to_vi32(x), a *b, total)
