/* Numbers of float64, one at a time: what a kernel needs to know before it starts. Within a few units of 1e-16. */
#pragma once

#include <stdint.h>

/* The nearest whole number, for |x| < 2^51. */
static double double_nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* ln x for normal x > 0: x = 2^k m with m in [sqrt 1/2, sqrt 2); ln m = 2 (s + s^3/3 + s^5/5 ...), where s = (m - 1) /
 * (m + 1), |s| < 0.172: s^23 / 23 is 1e-19. */
static double double_log(double x) {
    int64_t bits, exponent;
    __builtin_memcpy(&bits, &x, sizeof bits);
    exponent = (bits - INT64_C(0x3fe6a09e667f3bcd)) >> 52; /* of x / sqrt(1/2) */
    bits -= exponent << 52;
    __builtin_memcpy(&x, &bits, sizeof x);
    double s = (x - 1) / (x + 1), sum = 0;
    for (int n = 21; n > 0; n -= 2) {
        sum = sum * s * s + 1.0 / n;
    }
    return (double)exponent * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

/* e^x for |x| < 700: e^x = 2^k e^r, |r| <= ln 2 / 2, and r^15 / 15! is 1e-19. */
static double double_exp(double x) {
    double k = double_nearest(x * 0x1.71547652b82fep0), r = x - k * 0x1.62e42fefa3800p-1 - k * 0x1.ef35793c76730p-45;
    double sum = 1, scale;
    for (int n = 14; n > 0; n--) {
        sum = 1 + sum * r / n;
    }
    int64_t bits = ((int64_t)k + 1023) << 52;
    __builtin_memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* The cosine and sine of x. x = k pi/2 + r, |r| <= pi/4, pi/2 in three parts of which k times the first is exact up to
 * |x| = 1e6 and right to 1e-16 |x| beyond. r^19 / 19! is 1e-19. */
static void double_turn(double x, double *cosine, double *sine) {
    double k = double_nearest(x * 0x1.45f306dc9c883p-1);
    double r = x - k * 0x1.921fb544p0 - k * 0x1.0b4611a6p-34 - k * 0x1.3198a2e037073p-69;
    double c = 1, s = 1, square = r * r;
    for (int n = 18; n > 0; n -= 2) {
        c = 1 - square * c / (n * (n - 1));
        s = 1 - square * s / (n * (n + 1));
    }
    s *= r;
    int64_t quarter = (int64_t)k & 3;
    double turned_c = quarter & 1 ? s : c, turned_s = quarter & 1 ? c : s;
    *cosine = quarter == 1 || quarter == 2 ? -turned_c : turned_c;
    *sine = quarter & 2 ? -turned_s : turned_s;
}
