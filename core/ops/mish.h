/* tanh(ln(1 + z)) = z (z + 2) / (z (z + 2) + 2), z = e^x. From 20 on it is 1. In x z the scaling by 2^k comes last: the
 * product is still a number where z alone is 0. The bound keeps -inf from becoming -inf 0. < 4 ulp. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_mish_float32(vf32 x) {
    const vf32 two = vf32_set(2);
    vf32 near = vf32_at_most(vf32_at_least(x, vf32_set(-120)), vf32_set(20));
    exp_parts parts = exp_split(near, vf32_set(SIMD_SHIFT));
    vf32 z = vf32_scale(parts.less_one + vf32_set(1), parts.shifted);
    vf32 product = vf32_fma(near, parts.less_one, near);
    vf32 result = vf32_scale(product * ((z + two) / vf32_fma(z, z + two, two)), parts.shifted);
    return vf32_select(vf32_gt(x, vf32_set(20)), x, result);
}
