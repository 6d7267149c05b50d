/* x (x + 3) / 6 on [-3, 3], 0 below and x above. NaN is neither below nor above, and stays NaN in the product.
 * Error < 2.3 ulp. */
#pragma once

#include "element.h"

#define ONE_SIXTH (1 / 6.0)

INLINE vec op_hardswish(vec x) {
    const vec three = v_set(3);
    vec between = x * (x + three) * v_set((element)ONE_SIXTH);
    between = v_select(v_le(x, -three), v_set(0), between);
    return v_select(v_ge(x, three), x, between);
}
