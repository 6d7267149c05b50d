/* log2 x. Error < 1.8 ulp.
 *
 * By polynomial: log2 x = k + f (1 + t) log2(e), with k, f and t of math/log.h. (1 + t) log2(e) is computed first, with
 * log2(e) in two parts, then multiplied by f. The product f log2(e) is avoided: it can be twice as large as the result,
 * so its rounding error would show.
 *
 * In float64, where v_lookup_16 is one instruction: k + log2 c + r (1 + r q(r)) log2(e), as in math/log_table.h. */
#pragma once

#include "math/log_table.h"

#if SIMD_TABLES && defined IS_64BIT
INLINE vec op_log2(vec x) {
    /* clang-format off */
    static const element inverses[16] = {
        0x1.3ffe868e87723p0, 0x1.2d61d460ad4b7p0, 0x1.1c1cc386514afp0, 0x1.0deaa1c57de5dp0,
        1, 0x1.e7600d34a3c36p-1, 0x1.d1203803662dp-1, 0x1.bd4d114406c33p-1,
        0x1.aa601ae4dccf1p-1, 0x1.9a44eece74e65p-1, 0x1.89d4e69e3afe6p-1, 0x1.7aa2a46886eb1p-1,
        0x1.6dac9244ca4ffp-1, 0x1.61bb53d2a67f1p-1, 0x1.5889c5b30dacp-1, 0x1.4fe494a343cddp0};
    static const element logarithms[16] = { /* log2 c */
        -0x1.49a0b63553p-2, -0x1.e233afde24p-3, -0x1.33d9ce9c94p-3, -0x1.38cf40b294p-4,
        0, 0x1.2345401538p-4, 0x1.1bb1c68f24p-3, 0x1.9c641b5ecap-3,
        0x1.0e5b258a5dp-2, 0x1.473e11fa19p-2, 0x1.83a67c05abp-2, 0x1.bdc868966bp-2,
        0x1.f13d484813p-2, 0x1.11255a3dfe8p-1, 0x1.249905fd8f8p-1, -0x1.914315062fp-2};
    /* clang-format on */
    log_table_parts parts = log_table_split(x, inverses);
    vec slope = v_fma(log_table_minimax(parts.r, LOG2_E_F64), parts.r, v_set(LOG2_E_F64));
    return v_fma(parts.r, slope, parts.k + V(lookup_16)(logarithms, parts.j));
}
#else
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
#endif
