/* False if an operand is NaN. */
#pragma once

#include "element.h"

INLINE vmask op_less(vec x1, vec x2) { return v_lt(x1, x2); }
