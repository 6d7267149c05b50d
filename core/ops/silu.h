/* x sigmoid(x), as x / (1 + e^-x) where x >= 0 and x e^x / (1 + e^x) elsewhere. In x e^x the scaling by 2^k comes last:
 * the product is still a number where e^x alone is 0. The bound keeps -inf from becoming -inf 0. < 3.5 ulp. */
#ifndef LANEWISE_OPS_SILU_H
#define LANEWISE_OPS_SILU_H

#include "math/exp.h"

LANE vf32 op_silu_float32(vf32 x) {
    const vf32 one = vf32_set(1);
    vm32 negative = vf32_lt(x, vf32_set(0));
    if (__builtin_expect(exp_is_normal(x), 1)) {
        vf32 z = exp_normal(-vf32_abs(x));
        return vf32_select(negative, x * z, x) / (one + z);
    }
    exp_parts parts = exp_split(-vf32_at_most(vf32_abs(x), vf32_set(120)));
    vf32 mantissa = parts.less_one + one;
    vf32 z = vf32_scale(mantissa, parts.shifted);
    vf32 below = vf32_scale(vf32_at_least(x, vf32_set(-120)) * mantissa, parts.shifted);
    return vf32_select(negative, below, x) / (one + z);
}

#endif
