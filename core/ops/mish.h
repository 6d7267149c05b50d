/* x tanh(ln(1 + z)) = x z (z + 2) / (z (z + 2) + 2), z = e^x. Error < 4 ulp.
 * 1. Clamp x to at least -EXP_REDUCED_BOUND and at most 20 (float64: 40): above, the result is x, and the lower bound
 *    avoids -inf * 0, which is NaN.
 * 2. z = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h. x (1 + d) is computed first and scaled by 2^k last,
 *    because the product can be nonzero where z alone is 0. */
#pragma once

#include "math/exp.h"

INLINE vec op_mish(vec x) {
    const vec two = v_set(2), above = v_set(BY_PRECISION(20, 40));
    vec bounded = v_at_most(v_at_least(x, v_set(-EXP_REDUCED_BOUND)), above);
    exp_parts parts = exp_reduce(bounded, v_set(ROUND_MAGIC));
    vec d = exp_expm1(parts.r);
    vec z = v_scale(d + v_set(1), parts.k_magic);
    vec product = v_fma(bounded, d, bounded);
    vec result = v_scale(product * ((z + two) / v_fma(z, z + two, two)), parts.k_magic);
    return v_select(v_gt(x, above), x, result);
}
