/* log10 x = k log10(2) + f (1 + t) log10(e), with k, f and t of math/log.h. Error < 1.7 ulp.
 * 1. Compute (1 + t) log10(e) first. The product f log10(e) is avoided: it can be twice as large as the result, so its
 *    rounding error would show.
 * 2. Multiply by f, then add k*LOG10_2_LO, then k*LOG10_2_HI_11BIT, a product that is exact. */
#pragma once

#include "math/log.h"

#define LOG10_E_HI 0x1.bcb7b2p-2f
#define LOG10_E_LO (-0x1.5b235ep-27f)
#define LOG10_2_HI_11BIT 0x1.344p-2f
#define LOG10_2_LO 0x1.3509f8p-18f

INLINE vf32 op_log10(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vf32 factor = vf32_set(LOG10_E_HI);
    vf32 slope = factor + vf32_fma(log_minimax(parts.f), factor, vf32_set(LOG10_E_LO));
    vf32 low = vf32_fma(parts.f, slope, parts.k * vf32_set(LOG10_2_LO));
    vf32 result = vf32_fma(parts.k, vf32_set(LOG10_2_HI_11BIT), low);
    return normal ? result : log_special(x, result);
}
