/* acosh x = ln(x + sqrt(x^2 - 1)); error < 2.5 ulp.
 * 1. Compute it as log1p(y + sqrt(y (x + 1))), y = x - 1, where nothing cancels.
 * 2. Above 2^30, where x^2 could overflow and sqrt(x^2 - 1) rounds to x: ln x + ln 2, by adding 1 to k (log.h). */
#pragma once

#include "math/log.h"

INLINE vf32 op_acosh(vf32 x) {
    const vf32 one = vf32_set(1);
    vm32 large = vf32_gt(x, vf32_set(0x1p30f));
    vf32 y = x - one;
    log_parts parts = log1p_split(vf32_select(large, x, y + vf32_sqrt(y * (x + one))));
    parts.k = parts.k + vf32_select(large, one, vf32_set(0));
    vf32 special = vf32_select(vf32_lt(x, one), vf32_set(__builtin_nanf("")), x);
    vm32 inside = vm32_and(vf32_ge(x, one), vf32_lt(x, vf32_set(__builtin_inff())));
    return vf32_select(inside, log_natural(parts), special);
}
