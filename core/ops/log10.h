/* log10 x = k log10 2 + f (1 + t) log10 e, both constants in two parts. In the second term f comes last:
 * f log10 e alone may be twice the result, and so would be its rounding. < 1.7 ulp. */
#pragma once

#include "math/log.h"

INLINE vf32 op_log10_float32(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_any(x);
    const vf32 factor = vf32_set(0x1.bcb7b2p-2f);
    vf32 slope = factor + vf32_fma(log_bend(parts.f), factor, vf32_set(-0x1.5b235ep-27f));
    vf32 low = vf32_fma(parts.f, slope, parts.power * vf32_set(0x1.3509f8p-18f));
    vf32 result = vf32_fma(parts.power, vf32_set(0x1.344p-2f), low);
    return normal ? result : log_special(x, result);
}
