/* ln(1 + x) by log1p_split (math/log.h). Error < 1.6 ulp. The result has the sign of x, for zeros too. */
#pragma once

#include "math/log.h"

INLINE vec op_log1p(vec x) {
    vec result = v_copysign(log_natural(log1p_split(x)), x);
    vec sum = v_set(1) + x;
    return log_is_normal(sum) ? result : log_special(sum, result);
}
