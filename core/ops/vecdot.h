/* The sum of products. Each product is rounded before it is added: FMAs, which not all processors have, would give
 * different bits. */
#pragma once

#include "reduce/reduction.h"

REDUCTION_OF(2, vecdot, float32, float32, vf32_set(-0.0f), x *y, a + b, count ? total : 0)
REDUCTION_OF(2, vecdot, int32, int32, vi32_set(0), x *y, a + b, total)
