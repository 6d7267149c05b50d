/* asinh x = ln(|x| + sqrt(1 + x^2)), with the sign of x. Error < 1.9 ulp.
 * 1. Compute it as log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), where nothing cancels.
 * 2. Above 2^30 (float64: 2^60), where x^2 could overflow and sqrt(1 + x^2) rounds to |x|: ln |x| + ln 2, by adding 1
 *    to k (log.h). */
#pragma once

#include "math/log.h"

INLINE vec op_asinh(vec x) {
    const vec one = v_set(1);
    vec size = v_abs(x), square = size * size;
    vmask large = v_gt(size, v_set(BY_PRECISION(0x1p30f, 0x1p60)));
    vec y = size + square / (one + v_sqrt(one + square));
    log_parts parts = log1p_split(v_select(large, size, y));
    parts.k = parts.k + v_select(large, one, v_set(0));
    vmask finite = v_lt(size, v_set(__builtin_inff()));
    return v_copysign(v_select(finite, log_natural(parts), size), x);
}
