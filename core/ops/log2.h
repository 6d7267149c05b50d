/* log2 x = k + f (1 + t) log2(e), with k, f and t of math/log.h. < 1.8 ulp.
 * (1 + t) log2(e), with LOG2_E_LO for what LOG2_E lacks, comes before the product with f: the rounding error of
 * f log2(e), up to twice the result, would count. */
#pragma once

#include "math/log.h"

#define LOG2_E_LO 0x1.4ae0cp-26f

INLINE vf32 op_log2_float32(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vf32 factor = vf32_set(LOG2_E);
    vf32 slope = factor + vf32_fma(log_minimax(parts.f), factor, vf32_set(LOG2_E_LO));
    vf32 result = vf32_fma(parts.f, slope, parts.k);
    return normal ? result : log_special(x, result);
}
