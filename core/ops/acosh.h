/* acosh x = ln(x + sqrt(x^2 - 1)); error < 2.5 ulp.
 * 1. Compute it as log1p(y + sqrt(y (x + 1))), y = x - 1, where nothing cancels.
 * 2. Above 2^30 (float64: 2^60), where x^2 could overflow and sqrt(x^2 - 1) rounds to x: ln x + ln 2, by adding 1 to k
 *    (log.h). */
#pragma once

#include "math/log.h"

INLINE vec op_acosh(vec x) {
    const vec one = v_set(1);
    vmask large = v_gt(x, v_set(BY_PRECISION(0x1p30f, 0x1p60)));
    vec y = x - one;
    log_parts parts = log1p_split(v_select(large, x, y + v_sqrt(y * (x + one))));
    parts.k = parts.k + v_select(large, one, v_set(0));
    vec special = v_select(v_lt(x, one), v_set(__builtin_nanf("")), x);
    vmask inside = m_and(v_ge(x, one), v_lt(x, v_set(__builtin_inff())));
    return v_select(inside, log_natural(parts), special);
}
