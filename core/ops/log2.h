/* log2 x = k + f (1 + t) log2(e), with k, f and t of math/log.h. Error < 1.8 ulp. (1 + t) log2(e) is computed first,
 * with log2(e) in two parts, then multiplied by f. The product f log2(e) is avoided: it can be twice as large
 * as the result, so its rounding error would show. */
#pragma once

#include "math/log.h"

#define LOG2_E_LO_F32 0x1.4ae0cp-26f
#define LOG2_E_LO_F64 0x1.777d0ffda0d24p-56

INLINE vec op_log2(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vec factor = v_set(BY_PRECISION(LOG2_E_F32, LOG2_E_F64));
    vec slope = factor + v_fma(log_minimax(parts.f), factor, v_set(BY_PRECISION(LOG2_E_LO_F32, LOG2_E_LO_F64)));
    vec result = v_fma(parts.f, slope, parts.k);
    return normal ? result : log_special(x, result);
}
