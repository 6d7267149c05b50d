/* True if an operand is NaN. */
#pragma once

#include "element.h"

INLINE vmask op_not_equal(vec x1, vec x2) { return v_ne(x1, x2); }
