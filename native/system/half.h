/* Converts between double and IEEE 754 binary16. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Rounds a double to IEEE 754 binary16, to nearest even. */
static inline uint16_t lw_encode_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    if (magnitude > 0x7ff0000000000000) {
        return sign | 0x7e00;
    }
    double absolute = value < 0 ? -value : value;
    if (absolute >= 65520.0) { /* the midpoint of 65504 (the largest finite value) and 2^16: rounds to infinity */
        return sign | 0x7c00;
    }
    /* With e the exponent of the value, adding 2^(e+42) rounds the 53-bit sum to a multiple of 2^(e-10), ties to even,
     * which leaves ten fraction bits. Denormal results, below 2^-14, use e = -14. */
    int exponent = (int)(magnitude >> 52) - 1023;
    exponent = exponent < -14 ? -14 : exponent;
    uint64_t anchor_bits = (uint64_t)(exponent + 42 + 1023) << 52;
    double anchor;
    memcpy(&anchor, &anchor_bits, sizeof anchor);
    double rounded = absolute + anchor;
    uint64_t rounded_bits;
    memcpy(&rounded_bits, &rounded, sizeof rounded_bits);
    uint64_t significand = rounded_bits - anchor_bits; /* in units of 2^(e-10) */
    return sign | (uint16_t)(((uint64_t)(exponent + 14) << 10) + significand);
}

static inline double lw_decode_half(uint16_t half) {
    int exponent = half >> 10 & 31;
    double significand = half & 1023;
    double magnitude;
    if (exponent == 31) {
        magnitude = significand ? __builtin_nan("") : __builtin_inf();
    } else if (exponent == 0) {
        magnitude = significand * 0x1p-24;
    } else {
        uint64_t bits = (uint64_t)(exponent - 15 + 1023) << 52;
        double power;
        memcpy(&power, &bits, sizeof power);
        magnitude = (1 + significand * 0x1p-10) * power;
    }
    return half & 0x8000 ? -magnitude : magnitude;
}
