/* NaN <= 0 is false, so NaN stays; -0 <= 0 is true, so -0 becomes +0. */
#pragma once

#include "element.h"

INLINE vec op_relu(vec x) {
    const vec zero = v_set(0);
    return IS_FLOATING ? v_select(v_le(x, zero), zero, x) : v_maximum(x, zero);
}
