/* ln(1 + x). Error < 1.6 ulp. The result has the sign of x, for zeros too.
 *
 * By log1p_split (math/log.h). In float64, where v_lookup_16 is one instruction, by tables (math/log_table.h): the
 * rounding error of 1 + x, computed as in log1p_split, is multiplied by 2^-k / c and added to r. k is at least -53,
 * except for x = -1, where it is -infinity, and the rounding error is 0. */
#pragma once

#include "math/log_table.h"

#if SIMD_TABLES && defined IS_64BIT
INLINE vec op_log1p(vec x) {
    const vec one = v_set(1);
    vec sum = one + x;
    log_table_parts parts = log_table_split_natural(sum);
    vec slope = V(scale_floor)(parts.inverse, v_at_most(-parts.k, v_set(53)));
    parts.r = v_fma(x - (sum - one), slope, parts.r);
    return v_select(v_eq(x, v_set(__builtin_inff())), x, v_copysign(log_table_natural(parts), x));
}
#else
INLINE vec op_log1p(vec x) {
    vec result = v_copysign(log_natural(log1p_split(x)), x);
    vec sum = v_set(1) + x;
    return log_is_normal(sum) ? result : log_special(sum, result);
}
#endif
