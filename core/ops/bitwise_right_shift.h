#pragma once

#include "element.h"

INLINE vec op_bitwise_right_shift(vec x1, vec x2) { return v_shift_right_each(x1, x2); }
