/* x sigmoid(x); error < 2 ulp.
 * 1. Compute it as x / (s + 1 + d) * s (ops/sigmoid.h). Multiplying by s last avoids overflow.
 * 2. Below -87 the result is x e^x, scaled by 2^k last, because the result can be nonzero where e^x is 0. x is bounded
 *    from below, because -inf * 0 would be NaN. */
#pragma once

#include "ops/sigmoid.h"

INLINE vf32 op_silu(vf32 x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        sigmoid_parts parts = sigmoid_split(x);
        return x / parts.sum * parts.scale;
    }
    const vf32 bound = vf32_set(EXP_NORMAL_BOUND);
    sigmoid_parts parts = sigmoid_split(vf32_at_most(vf32_at_least(x, -bound), bound));
    vf32 inside = x / parts.sum * parts.scale;
    vf32 bounded = vf32_at_most(vf32_at_least(x, vf32_set(-120)), bound);
    exp_parts power = exp_reduce(bounded, vf32_set(SIMD_ROUND_MAGIC));
    vf32 below = vf32_scale(vf32_fma(bounded, exp_expm1(power.r), bounded), power.k_magic);
    return vf32_select(vf32_ge(x, -bound), inside, below);
}
