/* Argument reduction of sin, cos and tan far from 0, in float64. */
#pragma once

#include "element.h"

/* pi/2 in two parts: products of the first with 26 bits are exact. */
#define PI_2_HI_27BIT 0x1.921fb54p0
#define PI_2_LO_27BIT 0x1.10b4611a62633p-30

enum { TRIG_WORDS = 7 }; /* words of 2/pi that a product needs */

/* The 64 bits of `words`, the least significant first, from bit `at` on. */
INLINE uint64_t trig_bits(const uint32_t *words, int at) {
    const uint32_t *word = words + at / 32;
    uint64_t bits = word[0] | (uint64_t)word[1] << 32;
    return at % 32 ? bits >> at % 32 | (uint64_t)word[2] << (64 - at % 32) : bits;
}

/* r = f * pi/2, f = (high * 2^64 + low) * 2^-126, in effect rounded once. */
INLINE double trig_times_pi_2(int64_t high, uint64_t low) {
    high += (int64_t)(low >> 63); /* from here on low is signed, which processors convert in one instruction */
    double first = (double)high, rest = (double)(high - (int64_t)first) * 0x1p64 + (double)(int64_t)low;
    double f = first * 0x1p64 + rest, f_lo = (first * 0x1p64 - f) + rest, f_26bit;
    uint64_t bits;
    __builtin_memcpy(&bits, &f, sizeof bits);
    bits &= ~((UINT64_C(1) << 27) - 1);
    __builtin_memcpy(&f_26bit, &bits, sizeof bits);
    double f_27bit = f - f_26bit;
    double small = f_26bit * PI_2_LO_27BIT + (f_27bit * (PI_2_HI_27BIT + PI_2_LO_27BIT) + f_lo * PI_2_HI_27BIT);
    return (f_26bit * PI_2_HI_27BIT + small) * 0x1p-126;
}

/* Step 2 of trig.h for one |x| = mantissa * 2^exponent. Returns the quadrant.
 * 1. Of the words of 2/pi, skip those whose product with 2^exponent is a multiple of 4.
 * 2. Of the product of mantissa and the next TRIG_WORDS words, keep 2 bits before the binary point, which is below bit
 *    `point`, and 126 after it. This is enough: no double is closer than 2^-62 to a multiple of pi/2.
 * 3. Round to the nearest integer, which gives the quadrant; the remainder, times pi/2, is r. */
INLINE int64_t trig_reduce_lane(double size, double *r) {
    /* Word i has the 32 bits of 2/pi from bit 32 * i after the binary point on. */
    static const uint32_t two_over_pi[] = {
        0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
        0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
        0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
        0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
        0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};
    uint64_t bits;
    __builtin_memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1075, skipped = exponent < 2 ? 0 : (exponent - 2) / 32;
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint32_t product[TRIG_WORDS + 2] = {0}; /* the least significant word first */
    for (int i = 0; i < TRIG_WORDS; i++) {
        uint64_t word = two_over_pi[skipped + TRIG_WORDS - 1 - i];
        uint64_t low = word * (uint32_t)mantissa + product[i];
        uint64_t high = word * (mantissa >> 32) + product[i + 1] + (low >> 32);
        product[i] = (uint32_t)low;
        product[i + 1] = (uint32_t)high;
        product[i + 2] = (uint32_t)(high >> 32);
    }
    int point = 32 * (TRIG_WORDS + skipped) - exponent;
    uint64_t high = trig_bits(product, point - 62), quadrant = (high + (UINT64_C(1) << 61)) >> 62;
    *r = trig_times_pi_2((int64_t)(high - (quadrant << 62)), trig_bits(product, point - 126));
    return (int64_t)quadrant;
}

RARE trig_parts trig_reduce_far(vec size) {
    element sizes[LANES], r[LANES];
    int64_t quadrants[LANES];
    v_store(sizes, size);
    for (int lane = 0; lane < LANES; lane++) {
        r[lane] = 0;
        quadrants[lane] = sizes[lane] > TRIG_FAR ? trig_reduce_lane(sizes[lane], r + lane) : 0;
    }
    return (trig_parts){b_load(quadrants), v_load(r) + (size - size)}; /* NaN for infinity */
}
