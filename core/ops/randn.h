/* Normally distributed numbers, by inversion: z is the quantile of p = (word + 1/2) 2^-32, in float64 2^-64.
 * Bit-identical on every backend: plain arithmetic and a correctly rounded square root, no FMA.
 * In float32: error < 3.5 ulp, |z| < 6.34.
 *
 * 1. y = 2p - 1. Both y and 1 - |y| are computed from the bits of the word, so that the tails keep their precision.
 * 2. L = -ln(1 - y^2) = -ln((1 - |y|)(1 + |y|)). The argument is 2^k (1 + f), as in math/log.h, and ln(1 + f) = f +
 *    f^2 q(f), q a minimax polynomial on [sqrt(1/2) - 1, sqrt(2) - 1]: absolute error of ln(1 + f) 2.7e-8.
 * 3. z = y (z/y), where z/y is a smooth function of L; in the tails, of sqrt(L). Minimax polynomials for z/y: in L - 1
 *    for L <= 6, relative error 8.1e-8; in sqrt(L) - 2.5 for 6 < L <= 22.2, where |y| > 0.99876, relative error 5.1e-8.
 * Source of the change of variable: Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2011.
 * Coefficients by Remez exchange.
 *
 * In float64: |z| < 9.2, by the rational functions of algorithm AS 241, PPND16: in
 * (y/2)^2 near the middle, else in sqrt(-ln((1 - |y|)/2)). Source: Wichura, "The percentage points of the normal
 * distribution", Applied Statistics 37, 1988. */
#pragma once

#include "math/log.h"
#include "random.h"

/* Horner's rule, from the highest coefficient on. */
INLINE vec randn_polynomial(vec x, const element *coefficients, int count) {
    vec sum = v_set(coefficients[0]);
    for (int i = 1; i < count; i++) {
        sum = sum * x + v_set(coefficients[i]);
    }
    return sum;
}

#ifdef IS_64BIT
/* The quotient of two polynomials of degree 7; that of the divisor has 1 as its last coefficient. */
INLINE vec randn_ratio(vec x, const element *over, const element *under) {
    return randn_polynomial(x, over, 8) / (randn_polynomial(x, under, 7) * x + v_set(1));
}

/* -ln x for a normal x in (0, 1/2]. */
INLINE vec randn_minus_log(vec x) {
    static const element coefficients[] = LOG_COEFFICIENTS;
    log_parts parts = log_split(x);
    vec r = randn_polynomial(parts.f, coefficients, sizeof coefficients / sizeof *coefficients);
    return parts.k * v_set(-LN2_F64) - (parts.f + parts.f * (parts.f * (r * parts.f - v_set(0.5))));
}

INLINE vec op_randn_word(vbits word) {
    static const element a[] = {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                                4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                                1.3314166789178437745e2, 3.3871328727963666080};
    static const element b[] = {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
                                2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
                                4.2313330701600911252e1};
    static const element c[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                                1.27045825245236838258,    3.64784832476320460504,    5.76949722146069140550,
                                4.63033784615654529590,    1.42343711074968357734};
    static const element d[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                                1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
                                2.05319162663775882187};
    static const element e[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                                2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
                                5.46378491116411436990,    6.65790464350110377720};
    static const element f[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                                7.86869131145613259100e-4,  1.48753612908506148525e-2, 1.36929880922735805310e-1,
                                5.99832206555887937690e-1};
    vi64 y_bits = b_xor(word, b_set(INT64_MIN)); /* as in float32, below */
    vi64 size_bits = b_xor(y_bits, b_shift_right(y_bits, 63)), tail_bits = b_xor(size_bits, b_set(INT64_MAX));
    vec q = (vi64_to_vf64(size_bits) + v_set(0.5)) * v_set(0x1p-64);
    vec p = (vi64_to_vf64(tail_bits) + v_set(0.5)) * v_set(0x1p-64);
    vec z = q * randn_ratio(v_set(0.180625) - q * q, a, b);
    vmask outer = v_gt(q, v_set(0.425)); /* of 15 % of the elements */
    if (m_any(outer)) {
        vec root = v_sqrt(randn_minus_log(p)), tail = randn_ratio(root - v_set(1.6), c, d);
        vmask far = v_gt(root, v_set(5));
        if (m_any(far)) {
            tail = v_select(far, randn_ratio(root - v_set(5), e, f), tail);
        }
        z = v_select(outer, tail, z);
    }
    return v_copysign(z, v_from_bits(y_bits));
}
#else
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
#endif

RANDOM(randn)
