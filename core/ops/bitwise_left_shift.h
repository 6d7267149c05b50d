#pragma once

#include "element.h"

INLINE vec op_bitwise_left_shift(vec x1, vec x2) { return v_shift_left_each(x1, x2); }
