/* Of floats, the operation minimum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below +0. */
#pragma once

#include "element.h"

INLINE vec op_minimum(vec x1, vec x2) { return v_minimum(x1, x2); }
