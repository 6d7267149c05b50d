/* ln(1 + x) by log1p_split (math/log.h). Error < 1.6 ulp. The result has the sign of x, for zeros too. */
#pragma once

#include "math/log.h"

INLINE vf32 op_log1p(vf32 x) {
    vf32 result = vf32_copysign(log_natural(log1p_split(x)), x);
    vf32 sum = vf32_set(1) + x;
    return log_is_normal(sum) ? result : log_special(sum, result);
}
