/* 1 / (1 + e^-x); error < 2 ulp.
 * 1. e^-x = (1 + d)/s, s = 2^k, d = e^-r - 1, where k and r are those of e^x (math/exp.h).
 * 2. The sigmoid is s / (s + 1 + d). First add d to the smaller of s and 1: the rounding error of this addition is
 *    small next to the whole sum, and e^-x is not rounded on its own. s is exact, so small results are as
 *    accurate as large ones. In float64, add s to the smaller of 1 and d, where s + 1 is exact or 1 hardly matters.
 * 3. Below -EXP_NORMAL_BOUND, where s would be denormal, the result is e^x. */
#pragma once

#include "math/exp.h"

typedef struct sigmoid_parts {
    vec scale; /* s */
    vec sum;   /* s + 1 + d */
} sigmoid_parts;

/* Steps 1 and 2 above, without the division, for |x| <= EXP_NORMAL_BOUND. */
INLINE sigmoid_parts sigmoid_split(vec x) {
    const vec one = v_set(1);
    exp_parts parts = exp_reduce(x, v_set(EXPONENT_MAGIC));
    vec minus_d = v_fma(exp_minimax(parts.r, -1), parts.r * parts.r, parts.r);
    vec scale = v_power_of_two(parts.k_magic);
#ifdef IS_64BIT
    vmask below = v_lt(scale, one);
    return (sigmoid_parts){scale, (scale + v_select(below, -minus_d, one)) + v_select(below, one, -minus_d)};
#else
    vec smaller = v_at_most(scale, one), larger = v_at_least(scale, one);
    return (sigmoid_parts){scale, (smaller - minus_d) + larger};
#endif
}

INLINE vec sigmoid_normal(vec x) {
    sigmoid_parts parts = sigmoid_split(x);
    return parts.scale / parts.sum;
}

INLINE vec op_sigmoid(vec x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        return sigmoid_normal(x);
    }
    vec bound = v_set(EXP_NORMAL_BOUND);
    vec inside = sigmoid_normal(v_at_most(v_at_least(x, -bound), bound));
    return v_select(v_ge(x, -bound), inside, exp_with_denormals(v_at_least(x, v_set(EXP_UNDERFLOW))));
}
