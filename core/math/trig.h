/* Argument reduction and polynomials of sin, cos and tan.
 *
 * |x| = n*pi/2 + r, |r| <= pi/4, or 1.2 % more for large n. The quadrant, n mod 4, selects sin r, cos r, -sin r or
 * -cos r.
 * 1. Up to 1e5, where n has at most 16 bits: r = |x| - n*PI_2_1 - ... - n*PI_2_6. All parts but the last have at most 8
 *    bits, so their products with n are exact without FMA. Source: Cody and Waite, Software Manual for the Elementary
 *    Functions, 1980, chapter 8.
 * 2. Beyond 1e5: |x| * 2/pi mod 4 in integers. Source: Payne and Hanek, "Radian reduction for trigonometric functions",
 *    ACM SIGNUM 18, 1983.
 * 3. sin r = r + r^3 p(r^2) and cos r = 1 + r^2 (-1/2 + r^2 q(r^2)), minimax polynomials by Remez exchange on |r| <=
 *    0.7949: relative errors 4.2e-9 and 1.5e-10. */
#pragma once

#include "simd/simd.h"

#define TWO_OVER_PI 0x1.45f306p-1f
#define PI_2_F64 0x1.921fb54442d18p0

/* pi/2 = PI_2_1 + ... + PI_2_6, of 8, 7, 3, 6, 7 and 23 bits. */
#define PI_2_1 0x1.92p0f
#define PI_2_2 0x1.fcp-12f
#define PI_2_3 (-0x1.4p-21f)
#define PI_2_4 (-0x1.78p-25f)
#define PI_2_5 0x1.0cp-34f
#define PI_2_6 (-0x1.73dcb4p-43f)

#define TRIG_FAR 1e5f /* larger |x| need step 2 above */

typedef struct trig_parts {
    vi32 quadrant; /* n, of which only the last two bits are valid */
    vf32 r;
} trig_parts;

/* Step 2 above, in four parts, for lanes with |x| >= 2^16; the results of other lanes are meaningless.
 * 1. |x| = mantissa * 2^(8*index - 7) with an integer mantissa < 2^31.
 * 2. Take 96 bits of 2/pi, from bit 8*index of the table on; earlier bits add only multiples of 4 to the product.
 * 3. Of the product of these bits and mantissa, keep 2 bits before the binary point and 62 after it, in high and low.
 *    This is enough: no float32 is closer than 2^-30 to a multiple of pi/2.
 * 4. Round to the nearest integer, which gives the quadrant; the remainder, times pi/2 * 2^-62, is r. */
RARE trig_parts trig_reduce_far(vf32 size) {
    /* Word i has the 32 bits of 2/pi from bit 8*i on. Bit b stands for 2^(8 - b), so bits 0 to 8 are zeros. */
    static const uint32_t two_over_pi[] = {
        0x00517cc1, 0x517cc1b7, 0x7cc1b727, 0xc1b72722, 0xb727220a, 0x27220a94, 0x220a94fe, 0x0a94fe13,
        0x94fe13ab, 0xfe13abe8, 0x13abe8fa, 0xabe8fa9a, 0xe8fa9a6e, 0xfa9a6ee0, 0x9a6ee06d, 0x6ee06db1,
        0xe06db14a, 0x6db14acc, 0xb14acc9e, 0x4acc9e21, 0xcc9e21c8, 0x9e21c820,
    };
    vi32 bits = vf32_bits(size);
    vi32 index = vi32_shift_right(vi32_shift_right(bits, 23) - vi32_set(127 + 16), 3);
    index = vi32_minimum(vi32_maximum(index, vi32_set(0)), vi32_set(13)); /* in the table for every lane, even NaN */
    vi32 scaled = bits + vi32_set(7 << 23) - vi32_shift_left(index, 26);
    vu32 mantissa = vi32_to_vu32(vf32_to_vi32(vf32_from_bits(scaled)));
    vu32 first = vu32_lookup(two_over_pi, index);
    vu32 second = vu32_lookup(two_over_pi + 4, index);
    vu32 third = vu32_lookup(two_over_pi + 8, index);

    vu32 product = mantissa * second;
    vu32 sum = product + vu32_mul_high(mantissa, third);
    vi32 carry = vm32_to_vi32(vu32_lt(sum, product));
    vi32 high = vu32_to_vi32(mantissa * first + vu32_mul_high(mantissa, second)) + carry;
    vi32 low = vu32_to_vi32(sum);

    trig_parts parts;
    parts.quadrant = vi32_shift_right(high + vi32_set(1 << 29), 30);
    high = high - vi32_shift_left(parts.quadrant, 30) - vi32_shift_right(low, 31); /* from here on low is signed */
    wf64 fraction = vi32_to_wf64(high) * wf64_set(0x1p32) + vi32_to_wf64(low);
    parts.r = wf64_to_vf32(fraction * wf64_set(PI_2_F64 * 0x1p-62)) + (size - size); /* NaN for infinity */
    return parts;
}

/* Computes the quadrant and r for size = |x|, by step 1 or 2 of the comment at the top of this file. In step 1,
 * subtracting n*PI_2_1 to n*PI_2_3 is exact. Subtracting n*PI_2_4 and n*PI_2_5 rounds unless much cancels. These
 * rounding errors are added last, with n*PI_2_6, so r is in effect rounded once, however much cancels. */
INLINE trig_parts trig_reduce(vf32 size) {
    const vf32 magic = vf32_set(SIMD_ROUND_MAGIC);
    vf32 n_magic = vf32_fma(size, vf32_set(TWO_OVER_PI), magic);
    vf32 n = n_magic - magic;
    vf32 r = vf32_fma(n, vf32_set(-PI_2_1), size);
    r = vf32_fma(n, vf32_set(-PI_2_2), r);
    r = vf32_fma(n, vf32_set(-PI_2_3), r);
    vf32 fourth = vf32_fma(n, vf32_set(-PI_2_4), r);
    vf32 lost = vf32_fma(n, vf32_set(-PI_2_5), vf32_fma(n, vf32_set(-PI_2_4), r - fourth));
    vf32 fifth = fourth + lost;
    r = fifth + vf32_fma(n, vf32_set(-PI_2_6), lost - (fifth - fourth));
    trig_parts parts = {vf32_bits(n_magic), r};
    vm32 far = vf32_gt(size, vf32_set(TRIG_FAR));
    if (vm32_any(far)) {
        trig_parts far_parts = trig_reduce_far(size);
        parts.quadrant = vi32_select(far, far_parts.quadrant, parts.quadrant);
        parts.r = vf32_select(far, far_parts.r, parts.r);
    }
    return parts;
}

/* Returns whether the quadrant is odd. If so, sin and cos are exchanged. */
INLINE vm32 trig_is_odd(trig_parts parts) { return vi32_ne(vi32_and(parts.quadrant, vi32_set(1)), vi32_set(0)); }

/* Negates x in lanes where the highest bit of `bits` is set. */
INLINE vf32 trig_negate(vf32 x, vi32 bits) {
    return vf32_from_bits(vi32_xor(vf32_bits(x), vi32_and(bits, vi32_set(INT32_MIN))));
}

/* Step 3 above: sin r and cos r. */
INLINE vf32 trig_sin_minimax(vf32 r) {
    vf32 z = r * r;
    vf32 p = vf32_set(-0x1.991aep-13f);
    p = vf32_fma(p, z, vf32_set(0x1.1106c4p-7f));
    p = vf32_fma(p, z, vf32_set(-0x1.555544p-3f));
    return vf32_fma(p, z * r, r);
}
INLINE vf32 trig_cos_minimax(vf32 r) {
    vf32 z = r * r;
    vf32 q = vf32_set(0x1.99dc7ap-16f);
    q = vf32_fma(q, z, vf32_set(-0x1.6c0c1p-10f));
    q = vf32_fma(q, z, vf32_set(0x1.55554ap-5f));
    q = vf32_fma(q, z, vf32_set(-0.5f));
    return vf32_fma(q, z, vf32_set(1));
}
