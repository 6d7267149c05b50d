/* False if an operand is NaN. */
#pragma once

#include "element.h"

INLINE vmask op_greater(vec x1, vec x2) { return v_gt(x1, x2); }
