/* 1 / (1 + e^-x). With e^-x = (1 + d) / s, s = 2^k, it is s / (s + 1 + d), and the sum is d and the smaller of s and 1,
 * then the larger: what the first addition rounds is small beside the second's result, and the exponential's own
 * rounding is spared. Small results keep all their digits, because large sums do; what is smaller than a normal number is
 * e^x. < 2 ulp. */
#pragma once

#include "math/exp.h"

typedef struct sigmoid_parts {
    vf32 scale; /* s */
    vf32 sum;   /* s + 1 + d */
} sigmoid_parts;

EXP_BEND(sigmoid_bend, -1)

/* For |x| <= 87. */
INLINE sigmoid_parts sigmoid_split(vf32 x) {
    const vf32 one = vf32_set(1);
    exp_rest rest = exp_reduce(x, vf32_set(SIMD_EXPONENT));
    vf32 one_less = vf32_fma(sigmoid_bend(rest.r), rest.r * rest.r, rest.r); /* -d */
    vf32 scale = vf32_power_of_two(rest.shifted);
    vf32 smaller = vf32_at_most(scale, one), larger = vf32_at_least(scale, one);
    return (sigmoid_parts){scale, (smaller - one_less) + larger};
}

INLINE vf32 sigmoid_normal(vf32 x) {
    sigmoid_parts parts = sigmoid_split(x);
    return parts.scale / parts.sum;
}

INLINE vf32 op_sigmoid_float32(vf32 x) {
    if (__builtin_expect(exp_is_normal(x), 1)) {
        return sigmoid_normal(x);
    }
    vf32 bound = vf32_set(87);
    vf32 inside = sigmoid_normal(vf32_at_most(vf32_at_least(x, -bound), bound));
    return vf32_select(vf32_ge(x, -bound), inside, exp_any(vf32_at_least(x, vf32_set(-104))));
}
