/* Normally distributed numbers, by inversion: z is the quantile of p = (word + 1/2) 2^-32.
 * Error < 3.5 ulp, |z| < 6.34. Bit-identical on every backend: plain arithmetic and a correctly rounded square root, no
 * FMA.
 *
 * 1. y = 2p - 1. Both y and 1 - |y| are computed from the bits of the word, so that the tails keep their precision.
 * 2. L = -ln(1 - y^2) = -ln((1 - |y|)(1 + |y|)). The argument is 2^k (1 + f), as in math/log.h, and ln(1 + f) = f +
 *    f^2 q(f), q a minimax polynomial on [sqrt(1/2) - 1, sqrt(2) - 1]: absolute error of ln(1 + f) 2.7e-8.
 * 3. z = y (z/y), where z/y is a smooth function of L; in the tails, of sqrt(L). Minimax polynomials for z/y: in L - 1
 *    for L <= 6, relative error 8.1e-8; in sqrt(L) - 2.5 for 6 < L <= 22.2, where |y| > 0.99876, relative error 5.1e-8.
 * Source of the change of variable: Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2011.
 * Coefficients by Remez exchange. */
#pragma once

#include "math/log.h"
#include "random.h"

/* Horner's rule, from the highest coefficient on. */
INLINE vf32 randn_polynomial(vf32 x, const float *coefficients, int count) {
    vf32 sum = vf32_set(coefficients[0]);
    for (int i = 1; i < count; i++) {
        sum = sum * x + vf32_set(coefficients[i]);
    }
    return sum;
}

/* -ln x for a normal x in (0, 1]. k has so few bits that ln 2 need not be split in two. */
INLINE vf32 randn_minus_log(vf32 x) {
    static const float q[] = {0x1.79ec62p-4f, -0x1.25ef64p-3f, 0x1.2e979ap-3f, -0x1.5330bp-3f,
                              0x1.9913b2p-3f, -0x1.000566p-2f, 0x1.555624p-2f, -0x1.fffffcp-2f};
    log_parts parts = log_split(x);
    vf32 curve = parts.f * parts.f * randn_polynomial(parts.f, q, 8);
    return parts.k * vf32_set(-LN2_F32) - (parts.f + curve);
}

INLINE vf32 op_randn_word(vi32 word) {
    static const float center[] = {-0x1.1b223ap-27f, 0x1.315c36p-23f, -0x1.dcfa9cp-22f, -0x1.cab89ap-18f,
                                   0x1.c6bb26p-15f,  0x1.2b8f4ep-13f, -0x1.b899a6p-9f,  0x1.89ed3cp-8f,
                                   0x1.66e68ep-2f,   0x1.982734p+0f};
    static const float tail[] = {0x1.5e3c92p-16f, -0x1.39e0a6p-13f, 0x1.bda5eep-14f, 0x1.38846ep-9f, -0x1.80bc38p-7f,
                                 0x1.d43acep-6f,  -0x1.6d58ccp-5f,  0x1.981c48p-5f,  0x1.639ef6p+0f, 0x1.a6d9ecp+1f};
    vi32 y_bits = vi32_xor(word, vi32_set(INT32_MIN));               /* (y 2^32 - 1)/2 */
    vi32 size_bits = vi32_xor(y_bits, vi32_shift_right(y_bits, 31)); /* (|y| 2^32 - 1)/2 */
    vi32 tail_bits = vi32_xor(size_bits, vi32_set(INT32_MAX));       /* ((1 - |y|) 2^32 - 1)/2 */
    vf32 y = (vi32_to_vf32(size_bits) + vf32_set(0.5f)) * vf32_set(0x1p-31f);
    vf32 tail_size = (vi32_to_vf32(tail_bits) + vf32_set(0.5f)) * vf32_set(0x1p-31f);
    vf32 l = randn_minus_log(tail_size * (vf32_set(1) + y));
    vf32 ratio = randn_polynomial(l - vf32_set(1), center, 10);
    vm32 deep = vf32_gt(l, vf32_set(6));
    if (vm32_any(deep)) {
        vf32 root = vf32_sqrt(vf32_select(deep, l, vf32_set(6)));
        ratio = vf32_select(deep, randn_polynomial(root - vf32_set(2.5f), tail, 10), ratio);
    }
    return vf32_copysign(y * ratio, vf32_from_bits(y_bits));
}

RANDOM(randn)
