/* asinh x = ln(|x| + sqrt(1 + x^2)), with the sign of x. Error < 1.9 ulp.
 * 1. Compute it as log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), where nothing cancels.
 * 2. Above 2^30, where x^2 could overflow and sqrt(1 + x^2) rounds to |x|: ln |x| + ln 2, by adding 1 to k (log.h). */
#pragma once

#include "math/log.h"

INLINE vf32 op_asinh(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_abs(x), square = size * size;
    vm32 large = vf32_gt(size, vf32_set(0x1p30f));
    vf32 y = size + square / (one + vf32_sqrt(one + square));
    log_parts parts = log1p_split(vf32_select(large, size, y));
    parts.k = parts.k + vf32_select(large, one, vf32_set(0));
    vm32 finite = vf32_lt(size, vf32_set(__builtin_inff()));
    return vf32_copysign(vf32_select(finite, log_natural(parts), size), x);
}
