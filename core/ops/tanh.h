/* tanh |x| = (1 - e^y) / (1 + e^y), y = -2 |x|. With e^y = 2^-k (1 + d), both are taken 2^k / 2 times as large, as
 * (2^k / 2 -+ 1 / 2) -+ d / 2, each rounded once, and the difference cancels nowhere: with k = 0 it is -d / 2. That
 * comes from y / 2 at once. From |x| = 9.02 on the result is 1; where k is large, d hardly counts, so that one constant
 * is enough for ln 2. The result is never negative: the sign is set where x has it. < 2 ulp. */
#ifndef LANEWISE_OPS_TANH_H
#define LANEWISE_OPS_TANH_H

#include "math/exp.h"

EXP_BEND(tanh_bend, 2)

LANE vf32 op_tanh_float32(vf32 x) {
    const vf32 half = vf32_set(0.5f), shift = vf32_set(SIMD_EXPONENT - 1);
    const vi32 sign = vf32_bits(vf32_set(-0.0f));
    vf32 below = vf32_at_least(vf32_from_bits(vi32_or(vf32_bits(x), sign)), vf32_set(-10)); /* -|x| */
    vf32 shifted = vf32_fma(below, vf32_set(-0x1.715476p+1f), shift);
    vf32 rest = vf32_fma(shifted - shift, vf32_set(0x1.62e43p-2f), below);
    vf32 half_less_one = vf32_fma(tanh_bend(rest), rest * rest, rest);
    vf32 scale = vf32_power_of_two(shifted); /* 2^k / 2 */
    vf32 quotient = ((scale - half) - half_less_one) / ((scale + half) + half_less_one);
    return vf32_from_bits(vi32_or(vf32_bits(quotient), vi32_and(vf32_bits(x), sign)));
}

#endif
