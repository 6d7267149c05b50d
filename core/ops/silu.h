/* x sigmoid(x); error < 2 ulp.
 * 1. Compute it as x / (s + 1 + d) * s (ops/sigmoid.h). Multiplying by s last avoids overflow.
 * 2. Below -EXP_NORMAL_BOUND the result is x e^x, scaled by 2^k last, because the result can be nonzero where e^x is 0.
 *    x is bounded from below, because -inf * 0 would be NaN. */
#pragma once

#include "ops/sigmoid.h"

INLINE vec op_silu(vec x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        sigmoid_parts parts = sigmoid_split(x);
        return x / parts.sum * parts.scale;
    }
    const vec bound = v_set(EXP_NORMAL_BOUND);
    sigmoid_parts parts = sigmoid_split(v_at_most(v_at_least(x, -bound), bound));
    vec inside = x / parts.sum * parts.scale;
    vec bounded = v_at_most(v_at_least(x, v_set(-EXP_REDUCED_BOUND)), bound);
    exp_parts power = exp_reduce(bounded, v_set(ROUND_MAGIC));
    vec below = v_scale(v_fma(bounded, exp_expm1(power.r), bounded), power.k_magic);
    return v_select(v_ge(x, -bound), inside, below);
}
