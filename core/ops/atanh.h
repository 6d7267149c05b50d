/* atanh x = log1p(2|x| / (1 - |x|)) / 2, with the sign of x. Error < 2.2 ulp. */
#pragma once

#include "math/log.h"

INLINE vf32 op_atanh(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_abs(x);
    vf32 result = vf32_set(0.5f) * log_natural(log1p_split((size + size) / (one - size)));
    vf32 outside = vf32_select(vf32_eq(size, one), vf32_set(__builtin_inff()), vf32_set(__builtin_nanf("")));
    return vf32_copysign(vf32_select(vf32_lt(size, one), result, outside), x);
}
