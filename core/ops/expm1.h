/* e^x - 1; error < 1.6 ulp.
 * 1. Clamp x to [-20, 88.9] (float64: [-40, 709.9]): at these bounds the result is already -1 and infinity.
 * 2. e^x = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 3. e^x - 1 = 2^k d + (2^k - 1), where nothing cancels: for k = 0 the sum is d. The code computes half of it, with
 *    2^k/2, and doubles that: for the largest k, 2^k would be infinite.
 * 4. For |x| < 2^-25 (2^-54) the result is x, which keeps denormals and the sign of zero. */
#pragma once

#include "math/exp.h"

INLINE vec op_expm1(vec x) {
    exp_parts parts =
        exp_reduce(v_at_most(v_at_least(x, v_set(BY_PRECISION(-20, -40))), v_set(BY_PRECISION(88.9f, 709.9))),
                   v_set(EXPONENT_MAGIC));
    vec half = v_power_of_two(parts.k_magic - v_set(1));
    vec result = v_fma(half, exp_expm1(parts.r), half - v_set(0.5f));
    return v_select(v_lt(v_abs(x), v_set(BY_PRECISION(0x1p-25f, 0x1p-54))), x, result + result);
}
