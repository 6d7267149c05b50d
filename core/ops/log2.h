/* log2 x = k + f (1 + t) log2 e, the constant in two parts. f comes last: f log2 e alone may be twice the result, and
 * so would be its rounding. < 1.8 ulp. */
#pragma once

#include "math/log.h"

INLINE vf32 op_log2_float32(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_any(x);
    const vf32 factor = vf32_set(0x1.715476p+0f);
    vf32 slope = factor + vf32_fma(log_bend(parts.f), factor, vf32_set(0x1.4ae0cp-26f));
    vf32 result = vf32_fma(parts.f, slope, parts.power);
    return normal ? result : log_special(x, result);
}
