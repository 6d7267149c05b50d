/* The sum of products. Each product is rounded before it is added: FMAs, which not all processors have, would give
 * different bits. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(vecdot, 2, vec, element, v_set(-(element)0), x *y, a + b, count ? total : 0, 1)
