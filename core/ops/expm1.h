/* With e^x = 2^k (1 + d) it is 2^k d + (2^k - 1), which cancels nowhere: with k = 0 it is d. Both parts are taken at
 * half their size, so that 2^k is a number up to the bound, where the result has reached infinity; on the other side it
 * is -1 long before. Near zero the result is x, which keeps denormals and signs of zeros. < 1.6 ulp. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_expm1_float32(vf32 x) {
    exp_parts parts =
        exp_split(vf32_at_most(vf32_at_least(x, vf32_set(-20)), vf32_set(88.9f)), vf32_set(SIMD_EXPONENT));
    vf32 half = vf32_power_of_two(parts.shifted - vf32_set(1));
    vf32 result = vf32_fma(half, parts.less_one, half - vf32_set(0.5f));
    return vf32_select(vf32_lt(vf32_abs(x), vf32_set(0x1p-25f)), x, result + result);
}
