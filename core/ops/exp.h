/* exp x, denormal results included.
 *
 * exp_by_polynomial (math/exp.h); error < 1.1 ulp.
 *
 * exp_by_long_table, for float64 where each lane loads its element of a table; error < 1.1 ulp:
 * exp(x) = 2^(k/64) * exp(r), k = round(64 x / ln 2), |r| <= ln2/128.
 * 1. r = x - k*LN2_HI_34BIT/64 - k*LN2_LO_34BIT/64, where the first product is exact without FMA.
 * 2. exp(r) = 1 + r + r^2 * q(r), q a minimax polynomial of degree 3: relative error 1.4e-18.
 * 3. The low 6 bits of k select a rounded power of two, and the others are added to its exponent. The table holds the
 *    bits of 2^(j/64) less j in the upper bits of the mantissa, so that all of k can be added at once.
 * 4. With log2 e in step 1, results would decrease by one ulp in about ten places between -1.4 and 1.4, where x passes
 *    from one k to the next. EXP_LONG_TABLE_LOG2_E, 20290 ulp less, moves these places to where results do not
 *    decrease, with FMA and without.
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
#elif SIMD_LOOKUP && defined IS_64BIT
/* ln 2 in two parts. k has up to 17 bits, so its product with the first is exact. */
#define LN2_HI_34BIT 0x1.62e42fef8p-1
#define LN2_LO_34BIT 0x1.1cf79abc9e3b4p-36
#define EXP_LONG_TABLE_LOG2_E 0x1.71547652b33bcp0
#define EXP_LONG_TABLE_BOUND 660 /* for all |x| <= this, power * expm1 below rounds as normal numbers do */

/* e^x for |x| <= EXP_LONG_TABLE_BOUND, or if `bounded` is 0, for |x| <= 1400, with the same bits. */
INLINE vec exp_by_long_table(vec x, int bounded) {
    /* clang-format off */
    static const int64_t powers[64] = { /* the bits of 2^(j/64), less j * 2^46 */
        0x3ff0000000000000, 0x3fefec9a3e778061, 0x3fefd9b0d3158574, 0x3fefc74518759bc8,
        0x3fefb5586cf9890f, 0x3fefa3ec32d3d1a2, 0x3fef9301d0125b51, 0x3fef829aaea92de0,
        0x3fef72b83c7d517b, 0x3fef635beb6fcb75, 0x3fef54873168b9aa, 0x3fef463b88628cd6,
        0x3fef387a6e756238, 0x3fef2b4565e27cdd, 0x3fef1e9df51fdee1, 0x3fef1285a6e4030b,
        0x3fef06fe0a31b715, 0x3feefc08b26416ff, 0x3feef1a7373aa9cb, 0x3feee7db34e59ff7,
        0x3feedea64c123422, 0x3feed60a21f72e2a, 0x3feece086061892d, 0x3feec6a2b5c13cd0,
        0x3feebfdad5362a27, 0x3feeb9b2769d2ca7, 0x3feeb42b569d4f82, 0x3feeaf4736b527da,
        0x3feeab07dd485429, 0x3feea76f15ad2148, 0x3feea47eb03a5585, 0x3feea23882552225,
        0x3feea09e667f3bcd, 0x3fee9fb23c651a2f, 0x3fee9f75e8ec5f74, 0x3fee9feb564267c9,
        0x3feea11473eb0187, 0x3feea2f336cf4e62, 0x3feea589994cce13, 0x3feea8d99b4492ed,
        0x3feeace5422aa0db, 0x3feeb1ae99157736, 0x3feeb737b0cdc5e5, 0x3feebd829fde4e50,
        0x3feec49182a3f090, 0x3feecc667b5de565, 0x3feed503b23e255d, 0x3feede6b5579fdbf,
        0x3feee89f995ad3ad, 0x3feef3a2b84f15fb, 0x3feeff76f2fb5e47, 0x3fef0c1e904bc1d2,
        0x3fef199bdd85529c, 0x3fef27f12e57d14b, 0x3fef3720dcef9069, 0x3fef472d4a07897c,
        0x3fef5818dcfba487, 0x3fef69e603db3285, 0x3fef7c97337b9b5f, 0x3fef902ee78b3ff6,
        0x3fefa4afa2a490da, 0x3fefba1bee615a27, 0x3fefd0765b6e4540, 0x3fefe7c1819e90d8};
    /* clang-format on */
    const vec magic = v_set(ROUND_MAGIC);
    vec k_magic = v_fma(x, v_set(64 * EXP_LONG_TABLE_LOG2_E), magic), k = k_magic - magic;
    vec r = v_fma(k, v_set(-LN2_LO_34BIT / 64), v_fma(k, v_set(-LN2_HI_34BIT / 64), x)), square = r * r;
    vec high = v_fma(r, v_set(0x1.111108e9e9e8bp-7), v_set(0x1.555573d2ad331p-5));
    vec low = v_fma(r, v_set(0x1.55555555576a3p-3), v_set(0x1.fffffffffdbb4p-2));
    vec expm1 = v_fma(square, v_fma(square, high, low), r);
    vbits k_bits = v_bits(k_magic), j = b_and(k_bits, b_set(63)), power_bits = vi64_lookup(powers, j);
    vec power = v_from_bits(power_bits + b_shift_left(bounded ? k_bits : j, 46)), result = v_fma(power, expm1, power);
    return bounded ? result : v_scale(result, v_from_bits(b_shift_right(k_bits, 6)));
}

/* The same for any x. Inlined although it seldom runs: around a call, WebAssembly's engines keep no vector in a
 * register, so that the whole loop would work on the stack. */
INLINE vec exp_by_long_table_unbounded(vec x) {
    return exp_by_long_table(v_at_most(v_at_least(x, v_set(EXP_UNDERFLOW)), v_set(EXP_OVERFLOW)), 0);
}

INLINE vec op_exp(vec x) {
    int bounded = exp_is_bounded(x, v_set(EXP_LONG_TABLE_BOUND));
    return __builtin_expect(bounded, 1) ? exp_by_long_table(x, 1) : exp_by_long_table_unbounded(x);
}
#else
INLINE vec op_exp(vec x) { return exp_by_polynomial(x); }
#endif
