/* Logarithms of float64 by tables, where v_lookup_16 is one instruction; for log, log2, log10, log1p
 * and pow.
 *
 * log x = k*log 2 + log c + log(1 + r), in any base; x = 2^k m, m in [3/4, 3/2), r = m/c - 1, |r| < 0.032.
 * 1. Take k and m from x. If x is a zero, infinity, negative or NaN, then k is infinite or m is NaN, and the sum is
 *    right without a test of x.
 * 2. j = round(20 m), from 15 to 30, selects 1/c and log c from tables. For j = 20, c is 1: near x = 1, the first two
 *    terms are 0, and r is exact.
 * 3. Add k*log 2 + log c, which is exact: the high part of log 2 and log c are multiples of 2^-43 (base 2: 2^-42; base
 *    10: 2^-44). Each 1/c is a float near the middle of its interval, found by random search: its logarithm differs
 *    from such a multiple by less than 2^-62.7.
 * 4. ln(1 + r) = r + r^2 q(r), q a minimax polynomial of degree 7; its error is less than 1e-17 of the result.
 * Up to the last addition, errors are less than the step of the logarithm from one x to the next, so results never
 * decrease.
 * Source: Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM
 * Transactions on Mathematical Software 16, 1990. */
#pragma once

#include "math/log.h"

#if SIMD_TABLES && defined IS_64BIT
typedef struct log_table_parts {
    vec k, m, r, inverse; /* inverse is 1/c */
    vbits j;              /* only its low four bits are meaningful: tables begin with the entry of j = 16 */
} log_table_parts;

/* Steps 1 and 2 above, given the table of 1/c. If m is NaN, k does not matter. */
INLINE log_table_parts log_table_split(vec x, const element *inverses) {
    const vec one = v_set(1);
    log_table_parts parts;
    vec exponent = V(exponent)(x);
    parts.m = V(mantissa)(x);
    parts.k = v_select(v_ge(parts.m, one), exponent, exponent + one);
    parts.j = v_bits(v_fma(parts.m, v_set(20), v_set(ROUND_MAGIC)));
    parts.inverse = V(lookup_16)(inverses, parts.j);
    parts.r = v_fma(parts.m, parts.inverse, -one);
    return parts;
}

/* unit * q(r). Even and odd powers are summed separately, which shortens the chain of dependent instructions. */
INLINE vec log_table_minimax(vec r, element unit) {
    static const element even[] = {-0x1.00714a3f1e66bp-3, -0x1.555540bf1163ep-3, -0x1.00000000afc7ap-2,
                                   -0x1.fffffffffffcep-2};
    static const element odd[] = {0x1.c8168671d3d4cp-4, 0x1.24922c3061f6dp-3, 0x1.9999999c3e59bp-3,
                                  0x1.55555555554bap-2};
    enum { COUNT = sizeof even / sizeof *even };
    element even_scaled[COUNT], odd_scaled[COUNT];
#pragma GCC unroll 4
    for (int i = 0; i < COUNT; i++) {
        even_scaled[i] = even[i] * unit;
        odd_scaled[i] = odd[i] * unit;
    }
    vec square = r * r;
    return v_fma(POLYNOMIAL(square, odd_scaled), r, POLYNOMIAL(square, even_scaled));
}

/* clang-format off */
/* log_table_split for ln x. */
INLINE log_table_parts log_table_split_natural(vec x) {
    static const element inverses[16] = {
        0x1.3ff1f16a24a6p0, 0x1.2cff40e64cf79p0, 0x1.1c95ab6a627ccp0, 0x1.0d8640ee1753dp0,
        1, 0x1.e7f1ae01669e3p-1, 0x1.d0df8a674bcd5p-1, 0x1.bd34140d8e894p-1,
        0x1.a9f0f9ecfbf1ap-1, 0x1.998a135e3a3fcp-1, 0x1.8985945a8870cp-1, 0x1.7b4772581e727p-1,
        0x1.6d530a64d4ed5p-1, 0x1.6159fea344a14p-1, 0x1.582f9b91dd78p-1, 0x1.50525bd0768f5p0};
    return log_table_split(x, inverses);
}

/* Step 3 above for ln x. */
INLINE vec log_table_high(log_table_parts parts) {
    static const element logarithms[16] = { /* ln c */
        -0x1.c8a5838d78p-3, -0x1.4b9e5af971p-3, -0x1.b193390d3ep-4, -0x1.a5bcb54b0cp-5,
        0, 0x1.8a3b097224p-5, 0x1.8b826d9248p-4, 0x1.1e4bf2fd25p-3,
        0x1.78e113a67p-3, 0x1.c94d1d1b22p-3, 0x1.0d813331c3p-2, 0x1.3340e9a493p-2,
        0x1.59a3d03b7ep-2, 0x1.7bc3097bafp-2, 0x1.96ac86b7b08p-2, -0x1.1770ab6be4p-2};
    return v_fma(parts.k, v_set(LOG_LN2_HI), V(lookup_16)(logarithms, parts.j));
}
/* clang-format on */

/* Steps 3 and 4 above: ln x. */
INLINE vec log_table_natural(log_table_parts parts) {
    vec low = v_fma(parts.k, v_set(LOG_LN2_LO), parts.r);
    return log_table_high(parts) + v_fma(parts.r * parts.r, log_table_minimax(parts.r, 1), low);
}
#endif
