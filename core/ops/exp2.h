/* 2^x = 2^k e^(f ln 2), k = round(x), f = x - k, which is exact. Error < 1.1 ulp, denormal results included.
 * 1. Clamp x to [-151, 129] (float64: [-1080, 1025]): at these bounds the result is already 0 and infinity.
 * 2. e^(f ln 2) by exp_expm1, 2^k by v_scale. */
#pragma once

#include "math/exp.h"

INLINE vec op_exp2(vec x) {
    const vec magic = v_set(ROUND_MAGIC);
    x = v_at_most(v_at_least(x, v_set(BY_PRECISION(-151, -1080))), v_set(BY_PRECISION(129, 1025)));
    vec k_magic = x + magic;
    vec mantissa = exp_expm1((x - (k_magic - magic)) * v_set(BY_PRECISION(LN2_F32, LN2_F64))) + v_set(1);
    if (!SIMD_SCALE && m_all(v_le(v_abs(x), v_set(EXPONENT_BIAS - 1)))) {
        return v_scale_normal(mantissa, k_magic);
    }
    return v_scale(mantissa, k_magic);
}
