/* x (x + 3) / 6 on [-3, 3], 0 below and x above. NaN is neither below nor above, and stays NaN in the product.
 * Error < 2.3 ulp. */
#pragma once

#include "simd/simd.h"

#define ONE_SIXTH 0x1.555556p-3f

INLINE vf32 op_hardswish(vf32 x) {
    const vf32 three = vf32_set(3);
    vf32 between = x * (x + three) * vf32_set(ONE_SIXTH);
    between = vf32_select(vf32_le(x, -three), vf32_set(0), between);
    return vf32_select(vf32_ge(x, three), x, between);
}
