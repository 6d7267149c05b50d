/* 1 / (1 + e^-x); error < 2 ulp.
 * 1. e^-x = (1 + d)/s, s = 2^k, d = e^-r - 1, where k and r are those of e^x (math/exp.h).
 * 2. The sigmoid is s / (s + 1 + d). First add d to the smaller of s and 1: the rounding error of this addition is
 *    small next to the whole sum, and e^-x is not rounded on its own. s is exact, so small results are as
 *    accurate as large ones.
 * 3. Below -87, where s would be denormal, the result is e^x. */
#pragma once

#include "math/exp.h"

typedef struct sigmoid_parts {
    vf32 scale; /* s */
    vf32 sum;   /* s + 1 + d */
} sigmoid_parts;

EXP_MINIMAX(sigmoid_minimax, -1)

/* Steps 1 and 2 above, without the division, for |x| <= EXP_NORMAL_BOUND. */
INLINE sigmoid_parts sigmoid_split(vf32 x) {
    const vf32 one = vf32_set(1);
    exp_parts parts = exp_reduce(x, vf32_set(SIMD_EXPONENT_MAGIC));
    vf32 minus_d = vf32_fma(sigmoid_minimax(parts.r), parts.r * parts.r, parts.r);
    vf32 scale = vf32_power_of_two(parts.k_magic);
    vf32 smaller = vf32_at_most(scale, one), larger = vf32_at_least(scale, one);
    return (sigmoid_parts){scale, (smaller - minus_d) + larger};
}

INLINE vf32 sigmoid_normal(vf32 x) {
    sigmoid_parts parts = sigmoid_split(x);
    return parts.scale / parts.sum;
}

INLINE vf32 op_sigmoid(vf32 x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        return sigmoid_normal(x);
    }
    vf32 bound = vf32_set(EXP_NORMAL_BOUND);
    vf32 inside = sigmoid_normal(vf32_at_most(vf32_at_least(x, -bound), bound));
    return vf32_select(vf32_ge(x, -bound), inside, exp_with_denormals(vf32_at_least(x, vf32_set(EXP_UNDERFLOW))));
}
