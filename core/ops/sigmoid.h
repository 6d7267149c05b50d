/* 1 / (1 + e^-x). With e^-x = 2^k (1 + d) the sum is 2^k d and the smaller of 2^k and 1, then the larger: what the first
 * addition rounds is small beside the second's result, and the exponential's own rounding is spared. Small results keep
 * all their digits, because large sums do; what is smaller than a normal number is e^x. < 2 ulp. */
#ifndef LANEWISE_OPS_SIGMOID_H
#define LANEWISE_OPS_SIGMOID_H

#include "math/exp.h"

/* For |x| <= 87. */
LANE vf32 sigmoid_normal(vf32 x) {
    const vf32 one = vf32_set(1);
    exp_parts parts = exp_split(-x);
    vf32 scale = vf32_scale_normal(one, parts.shifted);
    vf32 smaller = vf32_at_most(scale, one), larger = vf32_at_least(scale, one);
    return one / (vf32_fma(scale, parts.less_one, smaller) + larger);
}

LANE vf32 op_sigmoid_float32(vf32 x) {
    if (__builtin_expect(exp_is_normal(x), 1)) return sigmoid_normal(x);
    vf32 bound = vf32_set(87);
    vf32 inside = sigmoid_normal(vf32_at_most(vf32_at_least(x, -bound), bound));
    return vf32_select(vf32_ge(x, -bound), inside, exp_any(vf32_at_least(x, vf32_set(-104))));
}

#endif
