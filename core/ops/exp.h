/* exp x, denormal results included.
 *
 * exp_by_polynomial (math/exp.h); error < 1.1 ulp.
 *
 * exp_by_table, where v_lookup_16 is one instruction; error < 1 ulp. On Zen 4, it takes 0.82 times as long:
 * exp(x) = 2^floor(k) * 2^(k - floor(k)) * exp(r), k = round(16 x / ln 2) / 16, |r| <= 0.0217.
 * 1. r = x - k*EXP_TABLE_LN2 - k*EXP_TABLE_LN2_LO. The first two terms nearly cancel, so rounding their difference
 *    hardly matters.
 * 2. exp(r) = 1 + r * (1 + r * q(r)), q of degree 1. Coefficients by least squares, weighted for the smallest largest
 *    error, the first rounded before the second was fitted: relative error 1.6e-9. In float64, the degree is 4 and
 *    the error 1.2e-17.
 * 3. 2^(k - floor(k)) is one of 16 floats, each rounded. With 1 / ln 2 in step 1, results would decrease by one ulp in
 *    two places, where x passes from one of these floats to the next. EXP_TABLE_LOG2_E, 44 ulp less, moves these places
 *    a little, to where rounding hides the differences: over all floats, results never decrease. */
#pragma once

#include "math/exp.h"

INLINE vec exp_by_polynomial(vec x) {
    if (!SIMD_SCALE && __builtin_expect(exp_is_normal(x), 1)) {
        return exp_normal(x);
    }
    return exp_with_denormals(v_at_most(v_at_least(x, v_set(EXP_UNDERFLOW)), v_set(EXP_OVERFLOW)));
}

#if SIMD_TABLES
/* 1.5 * 2^19 (float64: 2^48). x + EXP_TABLE_MAGIC rounds x to a multiple of 1/16 and holds its fraction in the low four
 * bits. */
#define EXP_TABLE_MAGIC BY_PRECISION(0x1.8p19f, 0x1.8p48)
#define EXP_TABLE_LOG2_E_F32 0x1.71541ep0f
#define EXP_TABLE_LOG2_E BY_PRECISION(EXP_TABLE_LOG2_E_F32, LOG2_E_F64)
#define EXP_TABLE_LN2 BY_PRECISION(LN2_F32, LN2_F64)
#define EXP_TABLE_LN2_LO_F32 -0x1.05c61p-29f
#define EXP_TABLE_LN2_LO BY_PRECISION(EXP_TABLE_LN2_LO_F32, LN2_LO_F64) /* ln 2 - EXP_TABLE_LN2 */

INLINE vec exp_by_table(vec x) {
    /* clang-format off */
    static const element powers[16] = { /* 2^(j/16) */
        BY_PRECISION(0x1p0f, 0x1p0), BY_PRECISION(0x1.0b5586p0f, 0x1.0b5586cf9890fp0),
        BY_PRECISION(0x1.172b84p0f, 0x1.172b83c7d517bp0), BY_PRECISION(0x1.2387a6p0f, 0x1.2387a6e756238p0),
        BY_PRECISION(0x1.306fep0f, 0x1.306fe0a31b715p0), BY_PRECISION(0x1.3dea64p0f, 0x1.3dea64c123422p0),
        BY_PRECISION(0x1.4bfdaep0f, 0x1.4bfdad5362a27p0), BY_PRECISION(0x1.5ab07ep0f, 0x1.5ab07dd485429p0),
        BY_PRECISION(0x1.6a09e6p0f, 0x1.6a09e667f3bcdp0), BY_PRECISION(0x1.7a1148p0f, 0x1.7a11473eb0187p0),
        BY_PRECISION(0x1.8ace54p0f, 0x1.8ace5422aa0dbp0), BY_PRECISION(0x1.9c4918p0f, 0x1.9c49182a3f090p0),
        BY_PRECISION(0x1.ae89fap0f, 0x1.ae89f995ad3adp0), BY_PRECISION(0x1.c199bep0f, 0x1.c199bdd85529cp0),
        BY_PRECISION(0x1.d5818ep0f, 0x1.d5818dcfba487p0), BY_PRECISION(0x1.ea4afap0f, 0x1.ea4afa2a490dap0)};
#ifdef IS_64BIT
    static const element q[] = {0x1.6c180c22fde88p-10, 0x1.11123afc1e2a6p-7, 0x1.55555554d5d94p-5,
                                0x1.555555548f213p-3, 0x1p-1};
#else
    static const element q[] = {0x1.555574p-3f, 0x1.00021ep-1f};
#endif
    /* clang-format on */
    const vec magic = v_set(EXP_TABLE_MAGIC);
    x = v_at_most(v_at_least(x, v_set(EXP_UNDERFLOW)), v_set(EXP_OVERFLOW));
    vec k_magic = v_fma(x, v_set(EXP_TABLE_LOG2_E), magic), k = k_magic - magic;
    vec r = v_fma(k, v_set(-EXP_TABLE_LN2_LO), v_fma(k, v_set(-EXP_TABLE_LN2), x));
    vec power = V(lookup_16)(powers, v_bits(k_magic));
    return V(scale_floor)(v_fma(power * r, v_fma(POLYNOMIAL(r, q), r, v_set(1)), power), k);
}

INLINE vec op_exp(vec x) { return exp_by_table(x); }
#else
INLINE vec op_exp(vec x) { return exp_by_polynomial(x); }
#endif
