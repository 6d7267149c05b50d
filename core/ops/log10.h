/* log10 x. Error < 1.7 ulp.
 *
 * By polynomial: log10 x = k log10(2) + f (1 + t) log10(e), with k, f and t of math/log.h.
 * 1. Compute (1 + t) log10(e) first. The product f log10(e) is avoided: it can be twice as large as the result, so its
 *    rounding error would show.
 * 2. Multiply by f, then add k times the lower part of log10(2), then k times the upper part, a product that is
 *    exact.
 *
 * In float64, where v_lookup_16 is one instruction: k log10(2) + log10 c + r (1 + r q(r)) log10(e), as in
 * math/log_table.h. */
#pragma once

#include "math/log_table.h"

#define LOG10_E_HI_F32 0x1.bcb7b2p-2f
#define LOG10_E_LO_F32 (-0x1.5b235ep-27f)
#define LOG10_2_HI_11BIT 0x1.344p-2f
#define LOG10_2_LO_11BIT 0x1.3509f8p-18f
#define LOG10_E_HI_F64 0x1.bcb7b1526e50ep-2
#define LOG10_E_LO_F64 0x1.95355baaafad3p-57
#define LOG10_2_HI_42BIT 0x1.34413509f78p-2
#define LOG10_2_LO_42BIT 0x1.fef311f12b358p-46

#if SIMD_TABLES && defined IS_64BIT
INLINE vec op_log10(vec x) {
    /* clang-format off */
    static const element inverses[16] = {
        0x1.3fe8899d8cc63p0, 0x1.2d63e86486788p0, 0x1.1ce65ea0eed17p0, 0x1.0d026f583aep0,
        1, 0x1.e7d098765cc78p-1, 0x1.d14da09fc1a46p-1, 0x1.bc7406bed9ca3p-1,
        0x1.aa70a5457affap-1, 0x1.9a1442405cc6p-1, 0x1.8961da6bcbacfp-1, 0x1.7bc1c80a7908fp-1,
        0x1.6d7784b58fce1p-1, 0x1.609de7c64c275p-1, 0x1.588d1ebd0d7cbp-1, 0x1.4f81ba8f7178p0};
    static const element logarithms[16] = { /* log10 c */
        -0x1.8c6f11714cp-4, -0x1.225cc56b3ap-4, -0x1.7c898a5d5ap-5, -0x1.60b5982fep-6,
        0, 0x1.584f26eea8p-6, 0x1.543ee24a58p-5, 0x1.f75930a1fep-5,
        0x1.4545858521p-4, 0x1.8add1fef7bp-4, 0x1.d4cefd4c2p-4, 0x1.09c1d2d6508p-3,
        0x1.2bdf4548f08p-3, 0x1.4bb55293c8p-3, 0x1.6049fe40e7p-3, -0x1.e11f19c811p-4};
    /* clang-format on */
    log_table_parts parts = log_table_split(x, inverses);
    vec slope = v_fma(log_table_minimax(parts.r, LOG10_E_HI_F64), parts.r, v_set(LOG10_E_HI_F64));
    vec high = v_fma(parts.k, v_set(LOG10_2_HI_42BIT), V(lookup_16)(logarithms, parts.j));
    return high + v_fma(parts.r, slope, parts.k * v_set(LOG10_2_LO_42BIT));
}
#else
INLINE vec op_log10(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    const vec factor = v_set(BY_PRECISION(LOG10_E_HI_F32, LOG10_E_HI_F64));
    vec slope = factor + v_fma(log_minimax(parts.f), factor, v_set(BY_PRECISION(LOG10_E_LO_F32, LOG10_E_LO_F64)));
    vec low = v_fma(parts.f, slope, parts.k * v_set(BY_PRECISION(LOG10_2_LO_11BIT, LOG10_2_LO_42BIT)));
    vec result = v_fma(parts.k, v_set(BY_PRECISION(LOG10_2_HI_11BIT, LOG10_2_HI_42BIT)), low);
    return normal ? result : log_special(x, result);
}
#endif
