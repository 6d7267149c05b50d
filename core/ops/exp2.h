/* 2^x = 2^k e^(f ln 2), k = round(x): f is exact. Beyond the bounds the result has reached 0 and infinity. < 1.1 ulp,
 * denormal results too. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_exp2_float32(vf32 x) {
    const vf32 shift = vf32_set(SIMD_SHIFT);
    x = vf32_at_most(vf32_at_least(x, vf32_set(-151)), vf32_set(129));
    vf32 shifted = x + shift;
    vf32 mantissa = exp_less_one((x - (shifted - shift)) * vf32_set(0x1.62e43p-1f)) + vf32_set(1);
    if (!SIMD_SCALE && vm32_all(vf32_le(vf32_abs(x), vf32_set(126)))) {
        return vf32_scale_normal(mantissa, shifted);
    }
    return vf32_scale(mantissa, shifted);
}
