/* What sin, cos and tan share.
 *
 * |x| = n pi/2 + r, |r| <= pi/4, or 1.2 % more where n is large. n modulo 4 says which of sin r, cos r and their
 * negatives is wanted.
 * Up to 1e5, where n has 16 bits, pi/2 is a sum of six numbers, whose products with n are exact without FMA: all but
 * the last have up to 8 bits. Source: Cody and Waite, Software Manual for the Elementary Functions (1980), chapter 8.
 * Beyond, |x| 2/pi modulo 4 comes from integers. Source: Payne and Hanek, Radian Reduction for Trigonometric Functions,
 * ACM SIGNUM 18 (1983). */
#pragma once

#include "simd/simd.h"

typedef struct quarter_turns {
    vi32 count; /* n, or a number that ends in the same two bits */
    vf32 rest;  /* r */
} quarter_turns;

/* For sizes from 2^16 on. A size is mantissa 2^(8 index) 2^-7: the index says from where on the bits of 2/pi count,
 * those before giving multiples of 4. Of the product with the next 96 bits, two bits stand before the point and 62
 * after it are kept, in high and low: no float32 comes closer than 2^-30 to a multiple of pi/2. */
RARE quarter_turns trig_reduce_far(vf32 size) {
    /* 32 bits of 2/pi from every eighth on. The first are nine zeros, one of them before the point. */
    static const uint32_t two_over_pi[] = {
        0x00517cc1, 0x517cc1b7, 0x7cc1b727, 0xc1b72722, 0xb727220a, 0x27220a94, 0x220a94fe, 0x0a94fe13,
        0x94fe13ab, 0xfe13abe8, 0x13abe8fa, 0xabe8fa9a, 0xe8fa9a6e, 0xfa9a6ee0, 0x9a6ee06d, 0x6ee06db1,
        0xe06db14a, 0x6db14acc, 0xb14acc9e, 0x4acc9e21, 0xcc9e21c8, 0x9e21c820,
    };
    vi32 bits = vf32_bits(size);
    vi32 index = vi32_shift_right(vi32_shift_right(bits, 23) - vi32_set(143), 3);
    index = vi32_min(vi32_max(index, vi32_set(0)), vi32_set(13)); /* other lanes read something too */
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

    quarter_turns turns;
    turns.count = vi32_shift_right(high + vi32_set(1 << 29), 30);
    high = high - vi32_shift_left(turns.count, 30) - vi32_shift_right(low, 31); /* and low is signed from here on */
    wf64 fraction = vi32_to_wf64(high) * wf64_set(0x1p32) + vi32_to_wf64(low);
    turns.rest = wf64_to_vf32(fraction * wf64_set(0x1.921fb54442d18p-62)) + (size - size); /* NaN for infinity */
    return turns;
}

/* Of |x|. The first three differences are exact, the next two are where they
 * are small. What they lose elsewhere goes into the last one, so r is rounded once, and has all its digits however much
 * cancels. */
INLINE quarter_turns trig_reduce(vf32 size) {
    const vf32 shift = vf32_set(SIMD_SHIFT);
    vf32 rounded = vf32_fma(size, vf32_set(0x1.45f306p-1f), shift);
    vf32 n = rounded - shift;
    vf32 r = vf32_fma(n, vf32_set(-0x1.92p+0f), size);
    r = vf32_fma(n, vf32_set(-0x1.fcp-12f), r);
    r = vf32_fma(n, vf32_set(0x1.4p-21f), r);
    vf32 fourth = vf32_fma(n, vf32_set(0x1.78p-25f), r);
    vf32 lost = vf32_fma(n, vf32_set(-0x1.0cp-34f), vf32_fma(n, vf32_set(0x1.78p-25f), r - fourth));
    vf32 fifth = fourth + lost;
    r = fifth + vf32_fma(n, vf32_set(0x1.73dcb4p-43f), lost - (fifth - fourth));
    quarter_turns turns = {vf32_bits(rounded), r};
    vm32 far = vf32_gt(size, vf32_set(1e5f));
    if (vm32_any(far)) {
        quarter_turns other = trig_reduce_far(size);
        turns.count = vi32_select(far, other.count, turns.count);
        turns.rest = vf32_select(far, other.rest, turns.rest);
    }
    return turns;
}

/* Whether n is odd: sin and cos change places. */
INLINE vm32 trig_is_odd(quarter_turns turns) { return vi32_ne(vi32_and(turns.count, vi32_set(1)), vi32_set(0)); }

/* x, negated where the highest bit is set. */
INLINE vf32 trig_negate(vf32 x, vi32 bits) {
    return vf32_from_bits(vi32_xor(vf32_bits(x), vi32_and(bits, vi32_set(INT32_MIN))));
}

/* sin r = r + r^3 p(r^2), cos r = 1 + r^2 (-1/2 + r^2 q(r^2)): relative errors 4.2e-9 and 1.5e-10; minimax polynomials
 * by Remez exchange on |r| <= 0.7949. */
INLINE vf32 trig_sin_near(vf32 r) {
    vf32 z = r * r;
    vf32 p = vf32_set(-0x1.991aep-13f);
    p = vf32_fma(p, z, vf32_set(0x1.1106c4p-7f));
    p = vf32_fma(p, z, vf32_set(-0x1.555544p-3f));
    return vf32_fma(p, z * r, r);
}
INLINE vf32 trig_cos_near(vf32 r) {
    vf32 z = r * r;
    vf32 q = vf32_set(0x1.99dc7ap-16f);
    q = vf32_fma(q, z, vf32_set(-0x1.6c0c1p-10f));
    q = vf32_fma(q, z, vf32_set(0x1.55554ap-5f));
    q = vf32_fma(q, z, vf32_set(-0.5f));
    return vf32_fma(q, z, vf32_set(1));
}
