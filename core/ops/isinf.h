/* Whether |x| is infinity. */
#pragma once

#include "element.h"

INLINE vmask op_isinf(vec x) { return v_eq(v_abs(x), v_set((element)__builtin_inf())); }
