/* x sigmoid(x), as x / (s + 1 + d) s: multiplied by s last, no product overflows. Below -87 the sigmoid is e^x, and x e^x
 * may be a number where e^x is 0; the bound keeps -inf from becoming -inf 0. < 2 ulp. */
#pragma once

#include "ops/sigmoid.h"

INLINE vf32 op_silu_float32(vf32 x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        sigmoid_parts parts = sigmoid_split(x);
        return x / parts.sum * parts.scale;
    }
    const vf32 bound = vf32_set(87);
    sigmoid_parts parts = sigmoid_split(vf32_at_most(vf32_at_least(x, -bound), bound));
    vf32 inside = x / parts.sum * parts.scale;
    vf32 near = vf32_at_most(vf32_at_least(x, vf32_set(-120)), bound);
    exp_parts power = exp_split(near, vf32_set(SIMD_SHIFT));
    vf32 below = vf32_scale(vf32_fma(near, power.less_one, near), power.shifted);
    return vf32_select(vf32_ge(x, -bound), inside, below);
}
