/* What exponentials and what is made of them share.
 *
 * e^x = 2^k e^r, k = round(x / ln 2), |r| <= ln2 / 2.
 * ln 2 is split so that k times its first part (9 bits) is exact and x - k ln2 is right without FMA. e^r = 1 + r +
 * r^2 q(r), q a minimax polynomial of degree 4: relative error 3.1e-9, a twentieth of what one rounding costs.
 * < 1.1 ulp. Source: Cody and Waite, Software Manual for the Elementary Functions (1980), chapter 6; coefficients by
 * Remez exchange on |r| <= 0.3468. */
#pragma once

#include "simd/simd.h"

typedef struct exp_rest {
    vf32 r;       /* x - k ln2 */
    vf32 power;   /* k */
    vf32 shifted; /* k + shift */
} exp_rest;

typedef struct exp_parts {
    vf32 less_one; /* e^r - 1, in [-0.30, 0.42] */
    vf32 power;    /* k */
    vf32 shifted;  /* k + shift */
} exp_parts;

/* Defines name(r) as unit q(unit r), so that e^(unit r) - 1 = unit (r + r^2 name(r)) for |unit r| <= 0.3468. The unit, a
 * power of two or minus one, goes into the coefficients: it costs nothing and rounds nothing. */
#define EXP_BEND(name, unit)                                                             \
    INLINE vf32 name(vf32 r) {                                                           \
        vf32 q = vf32_set(0x1.6a23dp-10f * (unit) * (unit) * (unit) * (unit) * (unit));  \
        q = vf32_fma(q, r, vf32_set(0x1.123a2p-7f * (unit) * (unit) * (unit) * (unit))); \
        q = vf32_fma(q, r, vf32_set(0x1.5558f2p-5f * (unit) * (unit) * (unit)));         \
        q = vf32_fma(q, r, vf32_set(0x1.555492p-3f * (unit) * (unit)));                  \
        return vf32_fma(q, r, vf32_set(0x1.fffffcp-2f * (unit)));                        \
    }

EXP_BEND(exp_bend, 1)

/* e^r - 1 there. */
INLINE vf32 exp_less_one(vf32 r) { return vf32_fma(exp_bend(r), r * r, r); }

/* For |x| <= 170; NaN gives an r of NaN. The shift is SIMD_SHIFT for who scales by 2^k, SIMD_EXPONENT for who takes 2^k
 * itself. */
INLINE exp_rest exp_reduce(vf32 x, vf32 shift) {
    exp_rest rest;
    rest.shifted = vf32_fma(x, vf32_set(0x1.715476p0f), shift);
    rest.power = rest.shifted - shift;
    vf32 r = vf32_fma(rest.power, vf32_set(-0x1.63p-1f), x);
    rest.r = vf32_fma(rest.power, vf32_set(0x1.bd0106p-13f), r);
    return rest;
}

/* The same; NaN gives a less_one of NaN. */
INLINE exp_parts exp_split(vf32 x, vf32 shift) {
    exp_rest rest = exp_reduce(x, shift);
    return (exp_parts){exp_less_one(rest.r), rest.power, rest.shifted};
}

/* Whether e^x is a normal number in all lanes, so that neither bounds for x nor a second factor of 2^k are needed: a
 * quicker way to the same bits. False for NaN, whose bits are above those of every number. Compilers heed
 * __builtin_expect only where they see it beside the branch. */
INLINE int exp_is_normal(vf32 x) { return !vm32_any(vi32_gt(vf32_bits(vf32_abs(x)), vf32_bits(vf32_set(87)))); }

/* e^x where that holds. */
INLINE vf32 exp_normal(vf32 x) {
    exp_parts parts = exp_split(x, vf32_set(SIMD_SHIFT));
    return vf32_scale_normal(parts.less_one + vf32_set(1), parts.shifted);
}

/* e^x for |x| <= 170, denormal results included. */
INLINE vf32 exp_any(vf32 x) {
    exp_parts parts = exp_split(x, vf32_set(SIMD_SHIFT));
    return vf32_scale(parts.less_one + vf32_set(1), parts.shifted);
}
