/* ln x, denormal arguments included, by polynomial (math/log.h). Error < 1 ulp. In float64 by tables where v_lookup_16
 * is one instruction (math/log_table.h), with an error of 1.05 ulp. */
#pragma once

#include "math/log_table.h"

#if SIMD_TABLES && defined IS_64BIT
INLINE vec op_log(vec x) { return log_table_natural(log_table_split_natural(x)); }
#else
INLINE vec op_log(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    vec result = log_natural(parts);
    return normal ? result : log_special(x, result);
}
#endif
