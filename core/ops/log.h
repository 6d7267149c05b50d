/* ln x, denormal arguments included. In float64 by tables: with v_lookup_16 where that is one instruction
 * (math/log_table.h), else with a load for each lane (math/log_long_table.h), except in CUDA. Otherwise by polynomial
 * (math/log.h). Error < 1 ulp; the contract has that of float64. */
#pragma once

#include "math/log_long_table.h"
#include "math/log_table.h"

#if SIMD_TABLES && defined IS_64BIT
INLINE vec op_log(vec x) { return log_table_natural(log_table_split_natural(x)); }
#elif SIMD_LOOKUP && defined IS_64BIT
INLINE vec op_log(vec x) {
    return __builtin_expect(log_is_normal(x), 1) ? log_by_long_table(x, v_set(LOG_INTEGERS + EXPONENT_BIAS))
                                                 : log_by_long_table_special(x);
}
#else
INLINE vec op_log(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    vec result = log_natural(parts);
    return normal ? result : log_special(x, result);
}
#endif
