/* log2 x = k + f (1 + t) log2(e), with k, f and t of math/log.h. Error < 1.8 ulp. (1 + t) log2(e) is computed first,
 * with log2(e) = LOG2_E + LOG2_E_LO, then multiplied by f. The product f log2(e) is avoided: it can be twice as large
 * as the result, so its rounding error would show. */
#pragma once

#include "math/log.h"

#define LOG2_E_LO 0x1.4ae0cp-26f

INLINE vf32 op_log2(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vf32 factor = vf32_set(LOG2_E);
    vf32 slope = factor + vf32_fma(log_minimax(parts.f), factor, vf32_set(LOG2_E_LO));
    vf32 result = vf32_fma(parts.f, slope, parts.k);
    return normal ? result : log_special(x, result);
}
