/* Normally distributed: z where the distribution function is p = (word + 1/2) 2^-32, by its inverse.
 *
 * With y = 2p - 1 and L = -ln(1 - y^2), z / y is a smooth function of L, in the tails of sqrt(L). The distance of |y|
 * from 1 comes from the word's bits, not from y, so the tails keep their precision: 1 - y^2 = (1 - |y|)(1 + |y|).
 *   ln(1 + f) = f + f^2 q(f) on [sqrt(1/2) - 1, sqrt(2) - 1]: 2.7e-8 absolute
 *   z / y for L <= 6, |y| <= 0.99876: 8.1e-8 relative; in the tails, L <= 22.2: 5.1e-8
 * Plain arithmetic and a correctly rounded square root, no FMA: the same bits everywhere. < 3.5 ulp; |z| < 6.34. Source: the change of variable is Giles's, "Approximating the erfinv function", GPU Computing Gems
 * Jade Edition (2011); coefficients by Remez exchange. */
#pragma once

#include "math/log.h"
#include "random.h"

/* x c + the next coefficient, from the highest on. */
INLINE vf32 randn_polynomial(vf32 x, const float *coefficients, int count) {
    vf32 sum = vf32_set(coefficients[0]);
    for (int i = 1; i < count; i++) {
        sum = sum * x + vf32_set(coefficients[i]);
    }
    return sum;
}

/* -ln x for normal x in (0, 1]. */
INLINE vf32 randn_minus_log(vf32 x) {
    static const float q[] = {0x1.79ec62p-4f, -0x1.25ef64p-3f, 0x1.2e979ap-3f, -0x1.5330bp-3f,
                              0x1.9913b2p-3f, -0x1.000566p-2f, 0x1.555624p-2f, -0x1.fffffcp-2f};
    log_parts parts = log_split(x);
    vf32 bend = parts.f * parts.f * randn_polynomial(parts.f, q, 8);
    return parts.power * vf32_set(-0x1.62e43p-1f) - (parts.f + bend);
}

INLINE vf32 op_randn_word(vi32 word) {
    static const float middle[] = {-0x1.1b223ap-27f, 0x1.315c36p-23f, -0x1.dcfa9cp-22f, -0x1.cab89ap-18f,
                                   0x1.c6bb26p-15f,  0x1.2b8f4ep-13f, -0x1.b899a6p-9f,  0x1.89ed3cp-8f,
                                   0x1.66e68ep-2f,   0x1.982734p+0f};
    static const float tail[] = {0x1.5e3c92p-16f, -0x1.39e0a6p-13f, 0x1.bda5eep-14f, 0x1.38846ep-9f, -0x1.80bc38p-7f,
                                 0x1.d43acep-6f,  -0x1.6d58ccp-5f,  0x1.981c48p-5f,  0x1.639ef6p+0f, 0x1.a6d9ecp+1f};
    vi32 centred = vi32_xor(word, vi32_set(INT32_MIN));           /* (y 2^32 - 1) / 2 */
    vi32 size = vi32_xor(centred, vi32_shift_right(centred, 31)); /* of |y| */
    vi32 rest = vi32_xor(size, vi32_set(INT32_MAX));              /* of 1 - |y| */
    vf32 y = (vi32_to_vf32(size) + vf32_set(0.5f)) * vf32_set(0x1p-31f);
    vf32 distance = (vi32_to_vf32(rest) + vf32_set(0.5f)) * vf32_set(0x1p-31f);
    vf32 depth = randn_minus_log(distance * (vf32_set(1) + y));
    vf32 ratio = randn_polynomial(depth - vf32_set(1), middle, 10);
    vm32 deep = vf32_gt(depth, vf32_set(6));
    if (vm32_any(deep)) {
        vf32 root = vf32_sqrt(vf32_select(deep, depth, vf32_set(6)));
        ratio = vf32_select(deep, randn_polynomial(root - vf32_set(2.5f), tail, 10), ratio);
    }
    return vf32_copysign(y * ratio, vf32_from_bits(centred));
}

RANDOM(randn)
