/* The largest element. Of floats, by the operation maximum of IEEE 754-2019: NaN if any element is NaN, and -0 is
 * below 0. */
#pragma once

#include "element.h"

#if IS_FLOATING
#include "reduce/extreme.h"

EXTREME(max, -__builtin_inff(), v_at_least, extreme_and, v_maximum(a, b))
#else
#include "reduce/reduction.h"

REDUCTION(max, 1, vec, element, v_set(ELEMENT_MIN), x, v_maximum(a, b), total)
#endif
