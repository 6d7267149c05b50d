/* The sign is that of x, also of a zero. < 1.6 ulp. */
#pragma once

#include "math/log.h"

INLINE vf32 op_log1p_float32(vf32 x) {
    vf32 result = vf32_copysign(log_natural(log1p_split(x)), x);
    vf32 sum = vf32_set(1) + x;
    return log_is_normal(sum) ? result : log_special(sum, result);
}
