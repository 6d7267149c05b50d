/* With e^|x| = 2^k (1 + d) it is (2^k d + 2^-k d / (1 + d) + 2^k - 2^-k) / 2, which cancels nowhere. All is taken at
 * half its size, so that 2^k is a number up to the bound, where the result has reached infinity; 2^-k stops
 * counting long before. Near zero the result is x. < 2.4 ulp. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_sinh_float32(vf32 x) {
    vf32 size = vf32_abs(x);
    exp_parts parts = exp_split(vf32_at_most(size, vf32_set(89.5f)), vf32_set(SIMD_EXPONENT));
    vf32 up = vf32_power_of_two(parts.shifted - vf32_set(2));
    vf32 down = vf32_power_of_two(vf32_set(SIMD_EXPONENT - 2) - vf32_at_most(parts.power, vf32_set(60)));
    vf32 inverse = parts.less_one / (parts.less_one + vf32_set(1));
    vf32 half = vf32_fma(up, parts.less_one, vf32_fma(down, inverse, up - down));
    return vf32_copysign(vf32_select(vf32_lt(size, vf32_set(0x1p-12f)), size, half + half), x);
}
