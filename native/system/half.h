/* Converts between double and the floats of 16 bits: a sign, 15 - fraction bits of exponent, and `fraction` bits, which
 * are 10 for float16 (IEEE 754 binary16) and 7 for bfloat16, the upper half of a float. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline double lw_double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds a double to a float of 16 bits, to nearest even. */
static inline uint16_t lw_encode_half(double value, int fraction) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int bias = (1 << (14 - fraction)) - 1;
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint16_t infinity = (uint16_t)(0x7fff >> fraction << fraction);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    if (magnitude > 0x7ff0000000000000) {
        return (uint16_t)(sign | infinity | 1 << (fraction - 1));
    }
    double absolute = value < 0 ? -value : value;
    /* from the midpoint of the largest finite value and the next power of two, rounds to infinity */
    uint64_t largest = (uint64_t)(bias + 1023) << 52 | ((1ULL << (fraction + 1)) - 1) << (51 - fraction);
    if (absolute >= lw_double_from_bits(largest)) {
        return sign | infinity;
    }
    /* With e the exponent of the value, adding 2^(e + 52 - fraction) rounds the 53-bit sum to a multiple of
     * 2^(e - fraction), ties to even. Denormal results, below 2^(1 - bias), use e = 1 - bias. */
    int exponent = (int)(magnitude >> 52) - 1023;
    exponent = exponent < 1 - bias ? 1 - bias : exponent;
    uint64_t anchor = (uint64_t)(exponent + 52 - fraction + 1023) << 52;
    double rounded = absolute + lw_double_from_bits(anchor);
    uint64_t rounded_bits;
    memcpy(&rounded_bits, &rounded, sizeof rounded_bits);
    uint64_t significand = rounded_bits - anchor; /* in units of 2^(e - fraction) */
    return sign | (uint16_t)(((uint64_t)(exponent + bias - 1) << fraction) + significand);
}

static inline double lw_decode_half(uint16_t half, int fraction) {
    int bias = (1 << (14 - fraction)) - 1;
    int exponent = (half & 0x7fff) >> fraction;
    double significand = half & ((1 << fraction) - 1);
    double unit = lw_double_from_bits((uint64_t)((exponent ? exponent : 1) - bias - fraction + 1023) << 52);
    double magnitude = exponent > 2 * bias ? (significand > 0 ? __builtin_nan("") : __builtin_inf())
                                           : (exponent ? (1 << fraction) + significand : significand) * unit;
    return half & 0x8000 ? -magnitude : magnitude;
}
