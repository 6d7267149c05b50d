/* The largest element. Of floats, by the operation maximum of IEEE 754-2019: NaN if any element is NaN, and -0 is
 * below 0. */
#pragma once

#include "reduce/extreme.h"

#if IS_FLOATING
EXTREME(max, -__builtin_inff(), v_at_least, extreme_and, v_maximum(a, b))
#else
OWN_KERNELS(max, max_int8, max_uint8, max_int16, max_uint16)
EXTREME_INTEGERS(max, element, ELEMENT_MIN, x, v_maximum(a, b), total, 1, REDUCE_UNDECIDED, OWN(max))
#endif
