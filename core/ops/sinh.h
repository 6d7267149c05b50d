/* Computes sinh |x|, then copies the sign of x. Error < 2.4 ulp.
 * 1. e^|x| = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 2. sinh |x| = (2^k d + 2^-k d/(1 + d) + 2^k - 2^-k) / 2, where nothing cancels. The code computes half of it, with
 *    2^k/4 and 2^-k/4, and doubles that: 2^k/4 is finite up to COSH_OVERFLOW. In 2^-k, k is limited to 60: for larger
 *    k, the terms with 2^-k are lost in rounding.
 * 3. For |x| < 2^-12 (float64: 2^-27), sinh |x| is |x|. */
#pragma once

#include "ops/cosh.h"

INLINE vec op_sinh(vec x) {
    vec size = v_abs(x);
    exp_parts parts = exp_reduce(v_at_most(size, v_set(COSH_OVERFLOW)), v_set(EXPONENT_MAGIC));
    vec d = exp_expm1(parts.r);
    vec up = v_power_of_two(parts.k_magic - v_set(2));
    vec down = v_power_of_two(v_set(EXPONENT_MAGIC - 2) - v_at_most(parts.k, v_set(60)));
    vec inverse = d / (d + v_set(1));
    vec half = v_fma(up, d, v_fma(down, inverse, up - down));
    return v_copysign(v_select(v_lt(size, v_set(BY_PRECISION(0x1p-12f, 0x1p-27))), size, half + half), x);
}
