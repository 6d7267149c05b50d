/* log10 x = k log10(2) + f (1 + t) log10(e), with k, f and t of math/log.h. Error < 1.7 ulp.
 * 1. Compute (1 + t) log10(e) first. The product f log10(e) is avoided: it can be twice as large as the result, so its
 *    rounding error would show.
 * 2. Multiply by f, then add k times the lower part of log10(2), then k times the upper part, a product that is
 *    exact. */
#pragma once

#include "math/log.h"

#define LOG10_E_HI_F32 0x1.bcb7b2p-2f
#define LOG10_E_LO_F32 (-0x1.5b235ep-27f)
#define LOG10_2_HI_11BIT 0x1.344p-2f
#define LOG10_2_LO_11BIT 0x1.3509f8p-18f
#define LOG10_E_HI_F64 0x1.bcb7b1526e50ep-2
#define LOG10_E_LO_F64 0x1.95355baaafad3p-57
#define LOG10_2_HI_42BIT 0x1.34413509f78p-2
#define LOG10_2_LO_42BIT 0x1.fef311f12b358p-46

INLINE vec op_log10(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vec factor = v_set(BY_PRECISION(LOG10_E_HI_F32, LOG10_E_HI_F64));
    vec slope = factor + v_fma(log_minimax(parts.f), factor, v_set(BY_PRECISION(LOG10_E_LO_F32, LOG10_E_LO_F64)));
    vec low = v_fma(parts.f, slope, parts.k * v_set(BY_PRECISION(LOG10_2_LO_11BIT, LOG10_2_LO_42BIT)));
    vec result = v_fma(parts.k, v_set(BY_PRECISION(LOG10_2_HI_11BIT, LOG10_2_HI_42BIT)), low);
    return normal ? result : log_special(x, result);
}
