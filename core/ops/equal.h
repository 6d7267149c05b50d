/* False if an operand is NaN. */
#pragma once

#include "element.h"

INLINE vmask op_equal(vec x1, vec x2) { return v_eq(x1, x2); }
