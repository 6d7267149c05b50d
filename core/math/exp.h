/* What exponentials and what is made of them share.
 *
 * e^x = 2^k e^r, k = round(x / ln 2), |r| <= ln2 / 2.
 * ln 2 is split so that k times its first part (9 bits) is exact and x - k ln2 is right without FMA. e^r = 1 + r +
 * r^2 q(r), q a minimax polynomial of degree 4: relative error 3.1e-9, a twentieth of what one rounding costs.
 * < 1.1 ulp. Source: Cody and Waite, Software Manual for the Elementary Functions (1980), chapter 6; coefficients by
 * Remez exchange on |r| <= 0.3468. */
#ifndef LANEWISE_MATH_EXP_H
#define LANEWISE_MATH_EXP_H

#include "simd/simd.h"

typedef struct exp_parts {
    vf32 less_one; /* e^r - 1, in [-0.30, 0.42] */
    vf32 power;    /* k */
    vf32 shifted;  /* k + SIMD_SHIFT */
} exp_parts;

/* q: e^r = 1 + r + r^2 q for |r| <= 0.3468. */
LANE vf32 exp_bend(vf32 r) {
    vf32 q = vf32_set(0x1.6a23dp-10f);
    q = vf32_fma(q, r, vf32_set(0x1.123a2p-7f));
    q = vf32_fma(q, r, vf32_set(0x1.5558f2p-5f));
    q = vf32_fma(q, r, vf32_set(0x1.555492p-3f));
    return vf32_fma(q, r, vf32_set(0x1.fffffcp-2f));
}

/* e^r - 1 there. */
LANE vf32 exp_less_one(vf32 r) { return vf32_fma(exp_bend(r), r * r, r); }

/* For |x| <= 170; NaN gives a less_one of NaN. */
LANE exp_parts exp_split(vf32 x) {
    const vf32 shift = vf32_set(SIMD_SHIFT);
    exp_parts parts;
    parts.shifted = vf32_fma(x, vf32_set(0x1.715476p0f), shift);
    parts.power = parts.shifted - shift;
    vf32 r = vf32_fma(parts.power, vf32_set(-0x1.63p-1f), x);
    r = vf32_fma(parts.power, vf32_set(0x1.bd0106p-13f), r);
    parts.less_one = exp_less_one(r);
    return parts;
}

/* Whether e^x is a normal number in all lanes, so that neither bounds for x nor a second factor of 2^k are needed: a
 * quicker way to the same bits. False for NaN, whose bits are above those of every number. Compilers heed
 * __builtin_expect only where they see it beside the branch. */
LANE int exp_is_normal(vf32 x) { return !vm32_any(vi32_gt(vf32_bits(vf32_abs(x)), vf32_bits(vf32_set(87)))); }

/* e^x where that holds. */
LANE vf32 exp_normal(vf32 x) {
    exp_parts parts = exp_split(x);
    return vf32_scale_normal(parts.less_one + vf32_set(1), parts.shifted);
}

/* e^x for |x| <= 170, denormal results included. */
LANE vf32 exp_any(vf32 x) {
    exp_parts parts = exp_split(x);
    return vf32_scale(parts.less_one + vf32_set(1), parts.shifted);
}

#endif
