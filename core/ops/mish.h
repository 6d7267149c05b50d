/* x tanh(ln(1 + z)) = x z (z + 2) / (z (z + 2) + 2), z = e^x. Error < 4 ulp.
 * 1. Clamp x to [-120, 20]: above 20 the result is x, and the lower bound avoids -inf * 0, which is NaN.
 * 2. z = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h. x (1 + d) is computed first and scaled by 2^k last,
 *    because the product can be nonzero where z alone is 0. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_mish(vf32 x) {
    const vf32 two = vf32_set(2);
    vf32 bounded = vf32_at_most(vf32_at_least(x, vf32_set(-120)), vf32_set(20));
    exp_parts parts = exp_reduce(bounded, vf32_set(SIMD_ROUND_MAGIC));
    vf32 d = exp_expm1(parts.r);
    vf32 z = vf32_scale(d + vf32_set(1), parts.k_magic);
    vf32 product = vf32_fma(bounded, d, bounded);
    vf32 result = vf32_scale(product * ((z + two) / vf32_fma(z, z + two, two)), parts.k_magic);
    return vf32_select(vf32_gt(x, vf32_set(20)), x, result);
}
