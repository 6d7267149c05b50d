/* The smallest element. Of floats, by the operation minimum of IEEE 754-2019: NaN if any element is NaN, and -0 is
 * below 0. */
#pragma once

#include "element.h"

#if IS_FLOATING
#include "reduce/extreme.h"

EXTREME(min, __builtin_inff(), v_at_most, extreme_or, v_minimum(a, b))
#else
#include "reduce/reduction.h"

REDUCTION(min, 1, vec, element, v_set(ELEMENT_MAX), x, v_minimum(a, b), total)
#endif
