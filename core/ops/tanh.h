/* tanh |x| = (1 - e^y) / (1 + e^y), y = -2 |x|. With e^y = 2^k (1 + d) both are 2^k d -+ (1 -+ 2^k), each rounded once
 * where multiplications fuse, and the difference cancels nowhere: with k = 0 it is d. From |x| = 9.02 on the result is
 * 1. The sign is copied. < 2 ulp. */
#ifndef LANEWISE_OPS_TANH_H
#define LANEWISE_OPS_TANH_H

#include "math/exp.h"

LANE vf32 op_tanh_float32(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_at_most(vf32_abs(x), vf32_set(10));
    exp_parts parts = exp_split(vf32_set(-2) * size);
    vf32 scale = vf32_scale_normal(one, parts.shifted);
    vf32 difference = vf32_fma(scale, parts.less_one, scale - one);
    vf32 sum = vf32_fma(scale, parts.less_one, scale + one);
    return vf32_copysign(difference / sum, x);
}

#endif
