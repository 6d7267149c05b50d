/* atanh x = log1p(2|x| / (1 - |x|)) / 2, with the sign of x. Error < 2.2 ulp. */
#pragma once

#include "math/log.h"

INLINE vec op_atanh(vec x) {
    const vec one = v_set(1);
    vec size = v_abs(x);
    vec result = v_set(0.5f) * log_natural(log1p_split((size + size) / (one - size)));
    vec outside = v_select(v_eq(size, one), v_set(__builtin_inff()), v_set(__builtin_nanf("")));
    return v_copysign(v_select(v_lt(size, one), result, outside), x);
}
