/* Scalar float64 functions for the constants that a kernel computes before its loop. Errors are about 1e-16. */
#pragma once

#include <stdint.h>

#include "math/constants.h"

#define DOUBLE_ROUND_MAGIC 0x1.8p52 /* x plus this has no fraction bits, so the addition rounds x to an integer */

/* pi/2 in three parts of 31, 32 and 53 bits. */
#define DOUBLE_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define DOUBLE_PI_2_1 0x1.921fb544p0
#define DOUBLE_PI_2_2 0x1.0b4611a6p-34
#define DOUBLE_PI_2_3 0x1.3198a2e037073p-69

/* Rounds to the nearest integer, for |x| < 2^51. */
static double double_round(double x) { return (x + DOUBLE_ROUND_MAGIC) - DOUBLE_ROUND_MAGIC; }

/* ln x for a normal x > 0.
 * 1. x = 2^k m, m in [sqrt(1/2), sqrt(2)).
 * 2. ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1), |s| < 0.172. The first term left out is s^21/21 = 4e-18.
 * 3. ln x = k ln 2 + ln m. */
static double double_log(double x) {
    int64_t bits, k;
    __builtin_memcpy(&bits, &x, sizeof bits);
    k = (bits - SQRT_HALF_BITS_F64) >> 52;
    bits -= k << 52;
    __builtin_memcpy(&x, &bits, sizeof x);
    double s = (x - 1) / (x + 1), sum = 0;
    for (int n = 19; n > 0; n -= 2) {
        sum = sum * s * s + 1.0 / n;
    }
    return (double)k * LN2_F64 + 2 * s * sum;
}

/* e^x for |x| < 700.
 * 1. k = round(x * LOG2_E_F64), r = x - k ln 2, |r| <= ln2/2.
 * 2. e^r by its Taylor series; the first term left out is r^14/14! = 4e-18.
 * 3. Scale by 2^k. */
static double double_exp(double x) {
    double k = double_round(x * LOG2_E_F64), r = x - k * LN2_HI_42BIT_F64 - k * LN2_LO_42BIT_F64;
    double sum = 1, scale;
    for (int n = 13; n > 0; n--) {
        sum = 1 + sum * r / n;
    }
    int64_t bits = ((int64_t)k + 1023) << 52;
    __builtin_memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* Computes the cosine and sine of x.
 * 1. x = k pi/2 + r, |r| <= pi/4. k*DOUBLE_PI_2_1 is exact for |x| up to 1e6; for larger |x|, r has an error of
 *    1e-16 |x|.
 * 2. cos r and sin r by their Taylor series; the first term left out is r^18/18! = 2e-18.
 * 3. The quadrant, k mod 4, tells whether the two are exchanged, and which are negated. */
static inline void double_sincos(double x, double *cosine, double *sine) {
    double k = double_round(x * DOUBLE_TWO_OVER_PI);
    double r = x - k * DOUBLE_PI_2_1 - k * DOUBLE_PI_2_2 - k * DOUBLE_PI_2_3;
    double c = 1, s = 1, square = r * r;
    for (int n = 16; n > 0; n -= 2) {
        c = 1 - square * c / (n * (n - 1));
        s = 1 - square * s / (n * (n + 1));
    }
    s *= r;
    int64_t quadrant = (int64_t)k & 3;
    double rotated_c = quadrant & 1 ? s : c, rotated_s = quadrant & 1 ? c : s;
    *cosine = quadrant == 1 || quadrant == 2 ? -rotated_c : rotated_c;
    *sine = quadrant & 2 ? -rotated_s : rotated_s;
}
