/* x - x is 0 for finite x, and NaN for infinity and NaN. */
#pragma once

#include "element.h"

INLINE vmask op_isfinite(vec x) { return v_eq(x - x, v_set(0)); }
