/* x, or slope * x for x <= 0. NaN > 0 is false, so NaN is multiplied by slope and stays NaN. */
#pragma once

#include "element.h"

INLINE vec op_leaky_relu(vec x, vec slope) { return v_select(v_gt(x, v_set(0)), x, slope * x); }
