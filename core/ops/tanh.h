/* |x| <= 0.5625: x + x^3 p(x^2), p a minimax polynomial of degree 3, relative error 4.6e-8.
 * Above: 1 - 2 / (e^2|x| + 1), which at 9.02 has become 1. The sign is copied. < 2 ulp.
 * Source: Moshier, Cephes, tanhf; coefficients by Remez exchange. */
#ifndef LANEWISE_OPS_TANH_H
#define LANEWISE_OPS_TANH_H

#include "math/exp.h"

LANE vf32 op_tanh_float32(vf32 x) {
    vf32 size = vf32_abs(x), one = vf32_set(1), two = vf32_set(2);
    vf32 square = x * x;
    vf32 p = vf32_set(0x1.09f5cap-6f);
    p = vf32_fma(p, square, vf32_set(-0x1.ae9d0cp-5f));
    p = vf32_fma(p, square, vf32_set(0x1.10c656p-3f));
    p = vf32_fma(p, square, vf32_set(-0x1.555422p-2f));
    vf32 near = vf32_fma(p * square, x, x);
    exp_parts parts = exp_split(two * vf32_at_most(size, vf32_set(10)));
    vf32 far = one - two / (vf32_scale_normal(parts.mantissa, parts.power) + one);
    return vf32_copysign(vf32_select(vf32_gt(size, vf32_set(0.5625f)), far, near), x);
}

#endif
