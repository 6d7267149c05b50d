/* The exponential, for exp and the operations that are built on it.
 *
 * exp(x) = 2^k * exp(r), k = round(x * LOG2_E), |r| <= ln2/2.
 * 1. r = x - k*EXP_LN2_HI - k*EXP_LN2_LO, where the first product is exact without FMA.
 * 2. exp(r) = 1 + r + r^2 * q(r), q a minimax polynomial of degree 4 by Remez exchange on |r| <= 0.3468: relative error
 *    3.1e-9, a twentieth of a rounding error. In float64, the degree is 10 and the error 7.9e-19.
 * 3. Scale by 2^k; denormal results in two steps, so that they round once.
 * Error < 1.1 ulp, measured through exp.
 * Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 6. */
#pragma once

#include "math/constants.h"
#include "math/polynomial.h"

/* ln 2 in two parts. k of float32 has up to 8 bits, so its product with the first part, which has 9 bits, is exact. */
#define LN2_HI_9BIT 0x1.63p-1f
#define LN2_LO_9BIT (-0x1.bd0106p-13f)
#define EXP_LN2_HI BY_PRECISION(LN2_HI_9BIT, LN2_HI_42BIT_F64)
#define EXP_LN2_LO BY_PRECISION(LN2_LO_9BIT, LN2_LO_42BIT_F64)

#define EXP_UNDERFLOW BY_PRECISION(-104, -746)   /* e^x rounds to 0 for all x <= this */
#define EXP_OVERFLOW BY_PRECISION(89, 710)       /* e^x is infinite for all x >= this */
#define EXP_NORMAL_BOUND BY_PRECISION(87, 708)   /* e^x is a normal number for all |x| <= this */
#define EXP_REDUCED_BOUND BY_PRECISION(120, 760) /* e^x rounds to 0 and x e^x to -0 for all x <= minus this */

typedef struct exp_parts {
    vec r;       /* the reduced argument, x - k ln 2 */
    vec k;       /* round(x / ln 2), as a float */
    vec k_magic; /* k plus the `magic` of exp_reduce: its low bits hold k */
} exp_parts;

/* unit * q(unit * r), so that e^(unit r) - 1 = unit * (r + r^2 * result) for |unit * r| <= 0.3468. unit is plus or
 * minus a power of two, so multiplying the coefficients by its powers is exact. */
INLINE vec exp_minimax(vec r, element unit) {
#ifdef IS_64BIT
    static const element q[] = {0x1.1e3ce8d5c9008p-29,
                                0x1.af6c320422804p-26,
                                0x1.27e5b4babecbbp-22,
                                0x1.71ddeff71de7fp-19,
                                0x1.a01a013630703p-16,
                                0x1.a01a01b38e891p-13,
                                0x1.6c16c16c3066bp-10,
                                0x1.111111110ec34p-7,
                                0x1.5555555555502p-5,
                                0x1.555555555555bp-3,
                                0x1p-1};
#else
    static const element q[] = {0x1.6a23dp-10f, 0x1.123a2p-7f, 0x1.5558f2p-5f, 0x1.555492p-3f, 0x1.fffffcp-2f};
#endif
    enum { COUNT = sizeof q / sizeof *q };
    element scaled[COUNT], power = unit;
#pragma GCC unroll 16
    for (int i = COUNT - 1; i >= 0; i--, power *= unit) {
        scaled[i] = q[i] * power;
    }
    return polynomial(r, scaled, COUNT);
}

/* e^r - 1 for a reduced r; the result is in [-0.30, 0.42]. NaN stays NaN. */
INLINE vec exp_expm1(vec r) { return v_fma(exp_minimax(r, 1), r * r, r); }

/* Step 1 above: the k and r of x, for |x| <= 170 (float64: 1400); if x is NaN, so is r. magic must be ROUND_MAGIC if
 * k_magic is passed to v_scale or v_scale_normal, and EXPONENT_MAGIC if it is passed to v_power_of_two. */
INLINE exp_parts exp_reduce(vec x, vec magic) {
    exp_parts parts;
    parts.k_magic = v_fma(x, v_set(BY_PRECISION(LOG2_E_F32, LOG2_E_F64)), magic);
    parts.k = parts.k_magic - magic;
    vec r = v_fma(parts.k, v_set(-EXP_LN2_HI), x);
    parts.r = v_fma(parts.k, v_set(-EXP_LN2_LO), r);
    return parts;
}

/* Returns whether |x| <= bound in all lanes. False for NaN, whose bits exceed those of every number. */
INLINE int exp_is_bounded(vec x, vec bound) { return !m_any(b_gt(v_bits(v_abs(x)), v_bits(bound))); }

/* Returns whether |x| <= EXP_NORMAL_BOUND in all lanes, so that e^x and e^-x are normal numbers. Then x need not be
 * clamped, and 2^k is a single factor, which is faster and gives the same bits. Callers that branch on the result write
 * __builtin_expect themselves, because compilers heed it only next to the branch. */
INLINE int exp_is_normal(vec x) { return exp_is_bounded(x, v_set(EXP_NORMAL_BOUND)); }

/* e^x if exp_is_normal(x). */
INLINE vec exp_normal(vec x) {
    exp_parts parts = exp_reduce(x, v_set(ROUND_MAGIC));
    return v_scale_normal(exp_expm1(parts.r) + v_set(1), parts.k_magic);
}

/* e^x for |x| <= 170 (float64: 1400), denormal results included. */
INLINE vec exp_with_denormals(vec x) {
    exp_parts parts = exp_reduce(x, v_set(ROUND_MAGIC));
    return v_scale(exp_expm1(parts.r) + v_set(1), parts.k_magic);
}
