/* The exponential, for exp and the operations that are built on it.
 *
 * exp(x) = 2^k * exp(r), k = round(x * LOG2_E), |r| <= ln2/2.
 * 1. r = x - k*LN2_HI_9BIT - k*LN2_LO_9BIT, where the first product is exact without FMA.
 * 2. exp(r) = 1 + r + r^2 * q(r), q a minimax polynomial of degree 4 by Remez exchange on |r| <= 0.3468: relative error
 *    3.1e-9, a twentieth of a rounding error.
 * 3. Scale by 2^k; denormal results in two steps, so that they round once.
 * Error < 1.1 ulp, measured through exp.
 * Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 6. */
#pragma once

#include "math/constants.h"
#include "simd/simd.h"

/* ln 2 = LN2_HI_9BIT + LN2_LO_9BIT. k has up to 8 bits, so its product with the first part, which has 9 bits, is
 * exact. */
#define LN2_HI_9BIT 0x1.63p-1f
#define LN2_LO_9BIT (-0x1.bd0106p-13f)

#define EXP_UNDERFLOW (-104) /* e^x rounds to 0 for all x <= this */
#define EXP_OVERFLOW 89      /* e^x is infinite for all x >= this */
#define EXP_NORMAL_BOUND 87  /* e^x is a normal number for all |x| <= this */

typedef struct exp_parts {
    vf32 r;       /* the reduced argument, x - k ln 2 */
    vf32 k;       /* round(x / ln 2), as a float */
    vf32 k_magic; /* k plus the `magic` of exp_reduce: its low bits hold k */
} exp_parts;

/* Defines name(r) = unit * q(unit * r), so that e^(unit r) - 1 = unit * (r + r^2 * name(r)) for |unit * r| <= 0.3468.
 * unit is plus or minus a power of two, so multiplying the coefficients by its powers is exact. */
#define EXP_MINIMAX(name, unit)                                                          \
    INLINE vf32 name(vf32 r) {                                                           \
        vf32 q = vf32_set(0x1.6a23dp-10f * (unit) * (unit) * (unit) * (unit) * (unit));  \
        q = vf32_fma(q, r, vf32_set(0x1.123a2p-7f * (unit) * (unit) * (unit) * (unit))); \
        q = vf32_fma(q, r, vf32_set(0x1.5558f2p-5f * (unit) * (unit) * (unit)));         \
        q = vf32_fma(q, r, vf32_set(0x1.555492p-3f * (unit) * (unit)));                  \
        return vf32_fma(q, r, vf32_set(0x1.fffffcp-2f * (unit)));                        \
    }

EXP_MINIMAX(exp_minimax, 1)

/* e^r - 1 for a reduced r; the result is in [-0.30, 0.42]. NaN stays NaN. */
INLINE vf32 exp_expm1(vf32 r) { return vf32_fma(exp_minimax(r), r * r, r); }

/* Step 1 above: the k and r of x, for |x| <= 170; if x is NaN, so is r. magic must be SIMD_ROUND_MAGIC if k_magic is
 * passed to vf32_scale or vf32_scale_normal, and SIMD_EXPONENT_MAGIC if it is passed to vf32_power_of_two. */
INLINE exp_parts exp_reduce(vf32 x, vf32 magic) {
    exp_parts parts;
    parts.k_magic = vf32_fma(x, vf32_set(LOG2_E), magic);
    parts.k = parts.k_magic - magic;
    vf32 r = vf32_fma(parts.k, vf32_set(-LN2_HI_9BIT), x);
    parts.r = vf32_fma(parts.k, vf32_set(-LN2_LO_9BIT), r);
    return parts;
}

/* Returns whether |x| <= EXP_NORMAL_BOUND in all lanes, so that e^x and e^-x are normal numbers. Then x need not be
 * clamped, and 2^k is a single factor, which is faster and gives the same bits. False for NaN, whose bits exceed those
 * of every number. Callers that branch on the result write __builtin_expect themselves, because compilers heed it only
 * next to the branch. */
INLINE int exp_is_normal(vf32 x) {
    return !vm32_any(vi32_gt(vf32_bits(vf32_abs(x)), vf32_bits(vf32_set(EXP_NORMAL_BOUND))));
}

/* e^x if exp_is_normal(x). */
INLINE vf32 exp_normal(vf32 x) {
    exp_parts parts = exp_reduce(x, vf32_set(SIMD_ROUND_MAGIC));
    return vf32_scale_normal(exp_expm1(parts.r) + vf32_set(1), parts.k_magic);
}

/* e^x for |x| <= 170, denormal results included. */
INLINE vf32 exp_with_denormals(vf32 x) {
    exp_parts parts = exp_reduce(x, vf32_set(SIMD_ROUND_MAGIC));
    return vf32_scale(exp_expm1(parts.r) + vf32_set(1), parts.k_magic);
}
