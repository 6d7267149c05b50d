/* False if an operand is NaN. */
#pragma once

#include "element.h"

INLINE vmask op_greater_equal(vec x1, vec x2) { return v_ge(x1, x2); }
