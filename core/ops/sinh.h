/* Computes sinh |x|, then copies the sign of x. Error < 2.4 ulp.
 * 1. e^|x| = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 2. sinh |x| = (2^k d + 2^-k d/(1 + d) + 2^k - 2^-k) / 2, where nothing cancels. The code computes half of it, with
 *    2^k/4 and 2^-k/4, and doubles that: 2^k/4 is finite up to COSH_OVERFLOW. In 2^-k, k is limited to 60: for larger
 *    k, the terms with 2^-k are lost in rounding.
 * 3. For |x| < 2^-12, sinh |x| is |x|. */
#pragma once

#include "ops/cosh.h"

INLINE vf32 op_sinh(vf32 x) {
    vf32 size = vf32_abs(x);
    exp_parts parts = exp_reduce(vf32_at_most(size, vf32_set(COSH_OVERFLOW)), vf32_set(SIMD_EXPONENT_MAGIC));
    vf32 d = exp_expm1(parts.r);
    vf32 up = vf32_power_of_two(parts.k_magic - vf32_set(2));
    vf32 down = vf32_power_of_two(vf32_set(SIMD_EXPONENT_MAGIC - 2) - vf32_at_most(parts.k, vf32_set(60)));
    vf32 inverse = d / (d + vf32_set(1));
    vf32 half = vf32_fma(up, d, vf32_fma(down, inverse, up - down));
    return vf32_copysign(vf32_select(vf32_lt(size, vf32_set(0x1p-12f)), size, half + half), x);
}
