/* x*y + z in double, rounded once, on instruction sets without FMA: exact in integers of 128 bits.
 *
 * 1. |x| = m 2^e with an integer m of 53 bits, and so |y| and |z|.
 * 2. Product and addend become integers below 2^126 whose bit 125 is set. The one with the smaller exponent is shifted
 *    right; if bits are lost, its last bit is set instead, which rounds as they would.
 * 3. Add or subtract, and round the result to 53 bits, or to fewer if it is denormal. */
#pragma once

#include "simd/types.h"

typedef struct fma_number {
    uint64_t high, low;
    int exponent; /* of the lowest bit */
} fma_number;

INLINE int fma_is_negative(double x) {
    int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits < 0;
}

/* Step 1: returns m, which is at least 2^52, and sets *exponent. x is finite and nonzero. */
INLINE uint64_t fma_mantissa(double x, int *exponent) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    int biased = bits >> 52 & 0x7ff, shift = 0;
    bits &= UINT64_C(0xfffffffffffff);
    if (biased == 0) {
        shift = __builtin_clzll(bits) - 11;
        biased = 1;
    } else {
        bits |= UINT64_C(1) << 52;
    }
    *exponent = biased - 1075 - shift;
    return bits << shift;
}

INLINE fma_number fma_product(uint64_t x, uint64_t y) {
    uint64_t low = (uint32_t)x * (uint64_t)(uint32_t)y, high = (x >> 32) * (y >> 32);
    uint64_t middle = (x >> 32) * (uint32_t)y + (y >> 32) * (uint32_t)x; /* below 2^54, as x and y have 53 bits */
    uint64_t sum = low + (middle << 32);
    return (fma_number){high + (middle >> 32) + (sum < low), sum, 0};
}

INLINE fma_number fma_shift_left(fma_number x, int n) { /* 0 < n < 64 */
    return (fma_number){x.high << n | x.low >> (64 - n), x.low << n, x.exponent - n};
}

INLINE fma_number fma_shift_right(fma_number x, int n) { /* 0 <= n */
    uint64_t lost = 0;
    x.exponent += n;
    if (n >= 64) {
        lost = x.low;
        x.low = x.high;
        x.high = 0;
        n -= 64;
    }
    if (n >= 64) {
        lost |= x.low;
        x.low = 0;
        n = 0;
    }
    if (n > 0) {
        lost |= x.low << (64 - n);
        x.low = x.low >> n | x.high << (64 - n);
        x.high >>= n;
    }
    x.low |= lost != 0;
    return x;
}

/* Step 3: m 2^exponent for m >= 2^63. */
INLINE double fma_rounded(uint64_t m, int exponent) {
    int shift = exponent < -1074 - 11 ? -1074 - exponent : 11;
    if (shift > 64) { /* below half the smallest number */
        return 0;
    }
    if (shift > 62) {
        m = m >> 2 | ((m & 3) != 0);
        exponent += 2;
        shift -= 2;
    }
    uint64_t rest = m & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    m >>= shift;
    m += rest > half || (rest == half && (m & 1));
    exponent += shift;
    double factors[2];
    for (int i = 0; i < 2; i++) { /* two factors, because 2^exponent may be no normal number */
        int part = i ? exponent - exponent / 2 : exponent / 2;
        uint64_t bits = (uint64_t)((part < 1000 ? part : 1000) + 1023) << 52;
        __builtin_memcpy(&factors[i], &bits, sizeof bits);
    }
    return (double)(int64_t)m * factors[0] * factors[1];
}

RARE double portable_double_fma(double x, double y, double z) {
    if (x - x != 0 || y - y != 0 || x == 0 || y == 0) {
        return x * y + z; /* the product is exact */
    }
    if (z - z != 0 || z == 0) {
        return z == 0 ? x * y : z;
    }
    int x_exponent, y_exponent, z_exponent, negative = fma_is_negative(x) ^ fma_is_negative(y);
    uint64_t x_m = fma_mantissa(x, &x_exponent), y_m = fma_mantissa(y, &y_exponent);
    fma_number product = fma_product(x_m, y_m), addend = {fma_mantissa(z, &z_exponent) << 9, 0, 0};
    product.exponent = x_exponent + y_exponent;
    product = fma_shift_left(product, product.high >> 41 ? 20 : 21);
    addend.exponent = z_exponent - 73;
    int is_smaller = product.exponent < addend.exponent ||
                     (product.exponent == addend.exponent &&
                      (product.high < addend.high || (product.high == addend.high && product.low < addend.low)));
    fma_number large = is_smaller ? addend : product, small = is_smaller ? product : addend;
    small = fma_shift_right(small, large.exponent - small.exponent);
    int subtracts = negative != fma_is_negative(z);
    negative = is_smaller ? fma_is_negative(z) : negative;
    uint64_t low = subtracts ? large.low - small.low : large.low + small.low;
    uint64_t high =
        subtracts ? large.high - small.high - (large.low < small.low) : large.high + small.high + (low < large.low);
    if (high == 0 && low == 0) {
        return 0;
    }
    fma_number sum = {high, low, large.exponent};
    if (sum.high == 0) {
        sum = (fma_number){low, 0, sum.exponent - 64};
    }
    int zeros = __builtin_clzll(sum.high);
    sum = zeros ? fma_shift_left(sum, zeros) : sum;
    double size = fma_rounded(sum.high | (sum.low != 0), sum.exponent + 64);
    return negative ? -size : size;
}
