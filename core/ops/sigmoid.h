/* 1 / (1 + e^-x) where x >= 0, e^x / (1 + e^x) elsewhere: the exponential never overflows, and the small results
 * below zero keep all their digits. < 2 ulp. */
#ifndef LANEWISE_OPS_SIGMOID_H
#define LANEWISE_OPS_SIGMOID_H

#include "math/exp.h"

LANE vf32 op_sigmoid_float32(vf32 x) {
    vf32 small = exp_of_minus_abs(x);
    vf32 one = vf32_set(1);
    return vf32_select(vf32_lt(x, vf32_set(0)), small, one) / (one + small);
}

#endif
