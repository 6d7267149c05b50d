/* (z + 1 / z) / 2 with z = e^|x|, taken at half its size, so that z / 4 is a number up to the bound, where the result
 * has reached infinity. < 1.5 ulp. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_cosh_float32(vf32 x) {
    exp_parts parts = exp_split(vf32_at_most(vf32_abs(x), vf32_set(89.5f)), vf32_set(SIMD_EXPONENT));
    vf32 quarter = (parts.less_one + vf32_set(1)) * vf32_power_of_two(parts.shifted - vf32_set(2));
    vf32 half = quarter + vf32_set(0.0625f) / quarter;
    return half + half;
}
