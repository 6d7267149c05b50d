/* 1 / (1 + e^-x) where x >= 0, e^x / (1 + e^x) elsewhere: with z = e^-|x| the exponential never overflows, and small
 * results keep all their digits. What 1 + z loses by rounding is given back after the division, 1 / (1 + z) being near
 * enough to 1 - z/2 for that. < 2 ulp. */
#ifndef LANEWISE_OPS_SIGMOID_H
#define LANEWISE_OPS_SIGMOID_H

#include "math/exp.h"

LANE vf32 op_sigmoid_float32(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_abs(x);
    vf32 z = exp_is_normal(x) ? exp_normal(-size) : exp_any(-vf32_at_most(size, vf32_set(120)));
    vf32 sum = one + z;
    vf32 lost = z - (sum - one);
    vf32 quotient = vf32_select(vf32_lt(x, vf32_set(0)), z, one) / sum;
    return vf32_fma(quotient, -(lost * vf32_fma(z, vf32_set(-0.5f), one)), quotient);
}

#endif
