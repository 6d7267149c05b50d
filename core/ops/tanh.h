/* tanh |x| = (1 - e^y) / (1 + e^y), y = -2 |x|. With e^y = 2^k (1 + d) both are (1 -+ 2^k) -+ 2^k d, each rounded once
 * where multiplications fuse, and the difference cancels nowhere: with k = 0 it is -d. From |x| = 9.02 on the result is
 * 1. It is never negative: the sign is set where x has it. < 2 ulp. */
#ifndef LANEWISE_OPS_TANH_H
#define LANEWISE_OPS_TANH_H

#include "math/exp.h"

LANE vf32 op_tanh_float32(vf32 x) {
    const vf32 one = vf32_set(1);
    const vi32 sign = vf32_bits(vf32_set(-0.0f));
    vf32 below = vf32_at_least(vf32_from_bits(vi32_or(vf32_bits(x), sign)), vf32_set(-10)); /* -|x| */
    exp_parts parts = exp_split(below + below);
    vf32 scale = vf32_scale_normal(one, parts.shifted);
    vf32 difference = vf32_fma(-scale, parts.less_one, one - scale);
    vf32 sum = vf32_fma(scale, parts.less_one, scale + one);
    return vf32_from_bits(vi32_or(vf32_bits(difference / sum), vi32_and(vf32_bits(x), sign)));
}

#endif
