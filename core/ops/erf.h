/* erf |x| = 1 - e^y, y = ln erfc |x|, with the sign of x. Error < 3.2 ulp.
 * 1. y = -|x| q(|x|) on [0, 4], q a minimax polynomial for the relative error of the result, by Remez exchange: 5.2e-8.
 *    For |x| >= 3.92 the result is 1.
 * 2. e^y = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 3. erf |x| = -(2^k d + (2^k - 1)), where nothing cancels: for k = 0 the sum is d. The code leaves out the minus,
 *    because the sign of x is copied to the result. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_erf(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_at_most(vf32_abs(x), vf32_set(4));
    vf32 q = vf32_set(0x1.2b9552p-15f);
    q = vf32_fma(q, size, vf32_set(-0x1.6ca538p-12f));
    q = vf32_fma(q, size, vf32_set(0x1.3262d8p-10f));
    q = vf32_fma(q, size, vf32_set(0x1.3e5818p-12f));
    q = vf32_fma(q, size, vf32_set(-0x1.3d7d82p-6f));
    q = vf32_fma(q, size, vf32_set(0x1.a5301p-4f));
    q = vf32_fma(q, size, vf32_set(0x1.45f26cp-1f));
    q = vf32_fma(q, size, vf32_set(0x1.20dd76p+0f));
    exp_parts parts = exp_reduce(-(size * q), vf32_set(SIMD_EXPONENT_MAGIC));
    vf32 scale = vf32_power_of_two(parts.k_magic);
    return vf32_copysign(vf32_fma(scale, exp_expm1(parts.r), scale - one), x);
}
