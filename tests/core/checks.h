/* Counts and reports checks, and generates the numbers to check with. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static long checks, failures;

static void expect(int holds, const char *name, double a, double b, double c, double got, double expected) {
    checks++;
    if (holds) {
        return;
    }
    if (failures++ < 40) {
        printf("%s(%a, %a, %a): expected %a, got %a\n", name, a, b, c, expected, got);
    }
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* clang-format off */
static const float special_floats[] = {
    0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 1.5f, -1.5f, 2.5f, 0.49999997f, -0.49999997f, 3.0f, 1e-45f, -1e-45f,
    1.1754942e-38f, 1.17549435e-38f, 8388607.5f, 8388608.0f, -8388609.0f, 4194304.5f, 16777216.0f, 2147483520.0f,
    2147483648.0f, -2147483648.0f, -2147483904.0f, 9.2233715e18f, 9.223372e18f, -9.223372e18f, 3.4028235e38f,
    -3.4028235e38f, 65504.0f, 65519.996f, 65520.0f, -65520.0f, 5.9604645e-8f, 2.9802322e-8f, 2.9802326e-8f,
    6.097555e-5f, 6.1035156e-5f, 1.0004883f, INFINITY, -INFINITY, NAN, 1.0002441f, 1.0004885f, 2.4414065e-4f,
    2.4414060e-4f, 1.0000001f,
};
enum { SPECIALS = sizeof special_floats / sizeof *special_floats };

static const int32_t special_integers[] = {
    0, 1, -1, 2, 7, -7, 1 << 15, 65535, -65536, 16777217, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1,
    0x55555555, -1431655766,
};
/* clang-format on */
enum { INTEGERS = sizeof special_integers / sizeof *special_integers };

/* Returns random bits by xorshift32, so that they are the same with every C library. */
static uint32_t random_state = 2463534242u;
static uint32_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Returns a special value, a random bit pattern, or (half the time) a number with |x| in [2^-32, 2^32). */
static float random_float(void) {
    uint32_t bits = random_bits();
    switch (random_bits() % 4) {
    case 0:
        return special_floats[bits % SPECIALS];
    case 1:
        return float_of(bits);
    default:
        return ldexpf(1.0f + (float)(bits >> 9) * 0x1p-23f, (int)(bits % 64) - 32) * (bits & 256 ? -1.0f : 1.0f);
    }
}

static const double special_doubles[] = {
    0x1p-1074,
    -0x1p-1074,
    0x1.fffffffffffffp-1023,
    0x1p-1022,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    0x1p52,
    0x1.8p52,
    0x1.fffffffffffffp51,
    0x1.fffffffffffffp-2,
    0x1p53,
    -0x1p53,
    0x1p63,
    0x1.0000000000001p0,
};
enum { DOUBLES = sizeof special_doubles / sizeof *special_doubles };

/* Returns a special value, a random bit pattern, or (half the time) a number with |x| in [2^-64, 2^64). */
static double random_double(void) {
    uint64_t bits = (uint64_t)random_bits() << 32 | random_bits();
    double x;
    switch (random_bits() % 8) {
    case 0:
        return (double)special_floats[bits % SPECIALS];
    case 1:
        return special_doubles[bits % DOUBLES];
    case 2:
    case 3:
        memcpy(&x, &bits, sizeof x);
        return x;
    default:
        return ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, (int)(bits % 128) - 64) * (bits & 256 ? -1.0 : 1.0);
    }
}

/* Returns x*y + z, rounded once. It replaces fmaf, which is wrong in some C libraries. The exact result is sum + lost;
 * rounding `sum` alone to float is wrong only if `sum` is midway between two floats. */
static float fused(float x, float y, float z) {
    double product = (double)x * y, sum = product + z;
    double part = sum - product, lost = (product - (sum - part)) + (z - part);
    float near = (float)sum;
    float other = nextafterf(near, (double)near < sum ? INFINITY : -INFINITY);
    int midway = (double)other - sum == sum - (double)near;
    return midway && lost != 0 && (lost > 0) == (other > near) ? other : near;
}
