/* 2^x = 2^k e^(f ln 2), k = round(x), f = x - k, which is exact. Error < 1.1 ulp, denormal results included.
 * 1. Clamp x to [-151, 129]: at these bounds the result is already 0 and infinity.
 * 2. e^(f ln 2) by exp_expm1, 2^k by vf32_scale. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_exp2(vf32 x) {
    const vf32 magic = vf32_set(SIMD_ROUND_MAGIC);
    x = vf32_at_most(vf32_at_least(x, vf32_set(-151)), vf32_set(129));
    vf32 k_magic = x + magic;
    vf32 mantissa = exp_expm1((x - (k_magic - magic)) * vf32_set(LN2)) + vf32_set(1);
    if (!SIMD_SCALE && vm32_all(vf32_le(vf32_abs(x), vf32_set(126)))) {
        return vf32_scale_normal(mantissa, k_magic);
    }
    return vf32_scale(mantissa, k_magic);
}
