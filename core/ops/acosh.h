/* ln(x + sqrt(x^2 - 1)) = log1p(y + sqrt(y (x + 1))), y = x - 1. Where x^2 nears infinity it is ln x + ln 2: there
 * 1 is nothing beside x. < 2.5 ulp. */
#pragma once

#include "math/log.h"

INLINE vf32 op_acosh_float32(vf32 x) {
    const vf32 one = vf32_set(1);
    vm32 large = vf32_gt(x, vf32_set(0x1p30f));
    vf32 less = x - one;
    log_parts parts = log1p_split(vf32_select(large, x, less + vf32_sqrt(less * (x + one))));
    parts.power = parts.power + vf32_select(large, one, vf32_set(0));
    vf32 special = vf32_select(vf32_lt(x, one), vf32_set(__builtin_nanf("")), x);
    vm32 inside = vm32_and(vf32_ge(x, one), vf32_lt(x, vf32_set(__builtin_inff())));
    return vf32_select(inside, log_natural(parts), special);
}
