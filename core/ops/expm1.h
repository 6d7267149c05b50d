/* e^x - 1; error < 1.6 ulp.
 * 1. Clamp x to [-20, 88.9]: at these bounds the result is already -1 and infinity.
 * 2. e^x = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 3. e^x - 1 = 2^k d + (2^k - 1), where nothing cancels: for k = 0 the sum is d. The code computes half of it, with
 *    2^k/2, and doubles that: for k = 128, 2^k would be infinite.
 * 4. For |x| < 2^-25 the result is x, which keeps denormals and the sign of zero. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_expm1(vf32 x) {
    exp_parts parts =
        exp_reduce(vf32_at_most(vf32_at_least(x, vf32_set(-20)), vf32_set(88.9f)), vf32_set(SIMD_EXPONENT_MAGIC));
    vf32 half = vf32_power_of_two(parts.k_magic - vf32_set(1));
    vf32 result = vf32_fma(half, exp_expm1(parts.r), half - vf32_set(0.5f));
    return vf32_select(vf32_lt(vf32_abs(x), vf32_set(0x1p-25f)), x, result + result);
}
