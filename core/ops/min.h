/* The smallest element. Of floats, by the operation minimum of IEEE 754-2019: NaN if any element is NaN, and -0 is
 * below 0. */
#pragma once

#include "reduce/extreme.h"

#if IS_FLOATING
EXTREME(min, __builtin_inff(), v_at_most, extreme_or, v_minimum(a, b))
#else
OWN_KERNELS(min, min_int8, min_uint8, min_int16, min_uint16)
EXTREME_INTEGERS(min, element, ELEMENT_MAX, x, v_minimum(a, b), total, 1, REDUCE_UNDECIDED, OWN(min))
#endif
