/* Of floats, the operation maximum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below +0. */
#pragma once

#include "element.h"

INLINE vec op_maximum(vec x1, vec x2) { return v_maximum(x1, x2); }
