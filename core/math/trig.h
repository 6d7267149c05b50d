/* Argument reduction and polynomials of sin, cos and tan.
 *
 * |x| = n*pi/2 + r, |r| <= pi/4, or 1.2 % more for large n. The quadrant, n mod 4, selects sin r, cos r, -sin r or
 * -cos r.
 * 1. Up to 1e5, where n has at most 16 bits: r = |x| - n*PI_2_1 - ... - n*PI_2_6. All parts but the last have at most 8
 *    bits, so their products with n are exact without FMA. In float64 there are four parts, the first three of 33
 *    last, and n has up to 20 bits. Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter
 *    8.
 * 2. Beyond 1e5 (float64: 1e6): |x| * 2/pi mod 4 in integers. Source: Payne and Hanek, "Radian reduction for
 *    trigonometric functions", ACM SIGNUM 18, 1983.
 * 3. sin r = r + r^3 p(r^2) and cos r = 1 + r^2 (-1/2 + r^2 q(r^2)), minimax polynomials by Remez exchange on |r| <=
 *    0.7949: relative errors 4.2e-9 and 1.5e-10; in float64, 1.2e-17 and 2.1e-19. */
#pragma once

#include "math/constants.h"
#include "math/polynomial.h"

#define TWO_OVER_PI_F32 0x1.45f306p-1f

/* pi/2 = PI_2_1 + ... + PI_2_6, of 8, 7, 3, 6, 7 and 23 bits. */
#define PI_2_1 0x1.92p0f
#define PI_2_2 0x1.fcp-12f
#define PI_2_3 (-0x1.4p-21f)
#define PI_2_4 (-0x1.78p-25f)
#define PI_2_5 0x1.0cp-34f
#define PI_2_6 (-0x1.73dcb4p-43f)

#define TWO_OVER_PI_F64 0x1.45f306dc9c883p-1

/* pi/2 in parts of 33, 33, 33 and 53 bits. */
#define PI_2_1_33BIT 0x1.921fb544p0
#define PI_2_2_33BIT 0x1.0b4611a6p-34
#define PI_2_3_33BIT 0x1.3198a2ep-69
#define PI_2_4_F64 0x1.b839a252049c1p-104

#define TRIG_FAR BY_PRECISION(1e5f, 1e6) /* larger |x| need step 2 above */

typedef struct trig_parts {
    vbits quadrant; /* n, of which only the last two bits are valid */
    vec r;
} trig_parts;

#ifdef IS_64BIT
#include "math/trig_far_float64.h"
#else
#include "math/trig_far_float32.h"
#endif

/* Computes the quadrant and r for size = |x|, by step 1 or 2 of the comment at the top of this file. In step 1,
 * subtracting the leading parts of n*pi/2 is exact. Subtracting the next two rounds unless much cancels. These rounding
 * errors are added last, with the last part, so r is in effect rounded once, however much cancels. */
INLINE trig_parts trig_reduce(vec size) {
    const vec magic = v_set(ROUND_MAGIC);
    vec n_magic = v_fma(size, v_set(BY_PRECISION(TWO_OVER_PI_F32, TWO_OVER_PI_F64)), magic);
    vec n = n_magic - magic;
#ifdef IS_64BIT
    vec r = v_fma(n, v_set(-PI_2_1_33BIT), size);
#else
    vec r = v_fma(n, v_set(-PI_2_1), size);
    r = v_fma(n, v_set(-PI_2_2), r);
    r = v_fma(n, v_set(-PI_2_3), r);
#endif
    const vec a = v_set(-BY_PRECISION(PI_2_4, PI_2_2_33BIT)), b = v_set(-BY_PRECISION(PI_2_5, PI_2_3_33BIT));
    vec first = v_fma(n, a, r);
    vec lost = v_fma(n, b, v_fma(n, a, r - first));
    vec second = first + lost;
    r = second + v_fma(n, v_set(-BY_PRECISION(PI_2_6, PI_2_4_F64)), lost - (second - first));
    trig_parts parts = {v_bits(n_magic), r};
    vmask far = v_gt(size, v_set(TRIG_FAR));
    if (m_any(far)) {
        trig_parts far_parts = trig_reduce_far(size);
        parts.quadrant = b_select(far, far_parts.quadrant, parts.quadrant);
        parts.r = v_select(far, far_parts.r, parts.r);
    }
    return parts;
}

/* Returns whether the quadrant is odd. If so, sin and cos are exchanged. */
INLINE vmask trig_is_odd(trig_parts parts) { return b_ne(b_and(parts.quadrant, b_set(1)), b_set(0)); }

/* Negates x in lanes where the highest bit of `bits` is set. */
INLINE vec trig_negate(vec x, vbits bits) { return v_from_bits(b_xor(v_bits(x), b_and(bits, b_set(BITS_MIN)))); }

/* Step 3 above: sin r and cos r. */
INLINE vec trig_sin_minimax(vec r) {
    vec z = r * r;
#ifdef IS_64BIT
    static const element p[] = {0x1.5d7988909ad12p-33, -0x1.ae5e0f04340ecp-26, 0x1.71de35093cc99p-19,
                                -0x1.a01a019b935dp-13, 0x1.111111110f493p-7,   -0x1.5555555555546p-3};
#else
    static const element p[] = {-0x1.991aep-13f, 0x1.1106c4p-7f, -0x1.555544p-3f};
#endif
    return v_fma(POLYNOMIAL(z, p), z * r, r);
}
INLINE vec trig_cos_minimax(vec r) {
    vec z = r * r;
#ifdef IS_64BIT
    static const element q[] = {-0x1.8f8bd657d356ap-37,
                                0x1.1ee9a86771e63p-29,
                                -0x1.27e4f7a607d28p-22,
                                0x1.a01a019c2675cp-16,
                                -0x1.6c16c16c14bdfp-10,
                                0x1.5555555555549p-5,
                                -0x1p-1};
#else
    static const element q[] = {0x1.99dc7ap-16f, -0x1.6c0c1p-10f, 0x1.55554ap-5f, -0.5f};
#endif
    return v_fma(POLYNOMIAL(z, q), z, v_set(1));
}
