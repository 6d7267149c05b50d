/* The logarithm, for log, log2, log10 and the operations that are built on them.
 *
 * ln x = k*ln 2 + ln(1 + f), x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
 * 1. Take k and f from the bits of x; f is exact. |ln(1 + f)| <= ln2/2, so the sum of the two terms cancels at most one
 *    bit.
 * 2. ln(1 + f) = f + f*t, t = f * (-1/2 + f*r(f)), r a minimax polynomial of degree 7 for the relative error of the
 *    logarithm, by Remez exchange on [sqrt(1/2) - 1, sqrt(2) - 1]: 5.9e-9, a tenth of a rounding error. In float64, the
 *    degree is 18 and the error 1.1e-17.
 * 3. Add k*LOG_LN2_HI, which is exact without FMA, and k*LOG_LN2_LO.
 * Error < 1 ulp, measured through log.
 * Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 5. */
#pragma once

#include "math/constants.h"
#include "math/polynomial.h"

/* ln 2 in two parts. k of float32 has up to 8 bits, so its product with the first part, which has 15 bits, is exact. */
#define LN2_HI_15BIT 0x1.62e4p-1f
#define LN2_LO_15BIT 0x1.7f7d1cp-20f
#define LOG_LN2_HI BY_PRECISION(LN2_HI_15BIT, LN2_HI_42BIT_F64)
#define LOG_LN2_LO BY_PRECISION(LN2_LO_15BIT, LN2_LO_42BIT_F64)

#define SQRT_HALF_BITS_F32 0x3f3504f3
#define SQRT_HALF_BITS BY_PRECISION(SQRT_HALF_BITS_F32, SQRT_HALF_BITS_F64)

typedef struct log_parts {
    vec k;
    vec f;
} log_parts;

/* The bits of MIN_NORMAL, and how many positive normal numbers follow from there on. */
#define MIN_NORMAL_BITS ((element_bits)1 << MANTISSA_BITS)
#define NORMAL_COUNT ((element_bits)(2 * EXPONENT_BIAS) << MANTISSA_BITS)

/* Returns whether all lanes are positive normal numbers, as log_split requires: whether v_bits(x) - MIN_NORMAL_BITS, as
 * an unsigned integer, is below NORMAL_COUNT. BITS_MIN is added to both sides, because most instruction sets compare
 * signed integers only. Two comparisons of floats take more instructions. */
INLINE int log_is_normal(vec x) {
    typedef BY_PRECISION(vu32, vu64) bits; /* may overflow */
    vbits position = (vbits)((bits)v_bits(x) - (bits)b_set(MIN_NORMAL_BITS + BITS_MIN));
    return !m_any(b_gt(position, b_set(NORMAL_COUNT - 1 + BITS_MIN)));
}

/* Step 1 above for a normal x > 0: its k and f. Subtracting the bits of sqrt(1/2) from those of x, as integers, leaves
 * k in the bits above the mantissa. */
INLINE log_parts log_split(vec x) {
    vbits k = b_shift_right(v_bits(x) - b_set(SQRT_HALF_BITS), MANTISSA_BITS);
    log_parts parts;
    parts.k = v_from_integers(k);
    parts.f = v_from_bits(v_bits(x) - b_shift_left(k, MANTISSA_BITS)) - v_set(1);
    return parts;
}

/* Step 1 above for any positive finite x: a denormal x is first scaled by 2^24 (float64: 2^54). For zero, negative
 * numbers, infinity and NaN the parts are meaningless: log_special replaces the result. */
INLINE log_parts log_split_with_denormals(vec x) {
    vmask denormal = v_lt(x, v_set(MIN_NORMAL));
    log_parts parts = log_split(v_select(denormal, x * v_set(BY_PRECISION(0x1p24f, 0x1p54)), x));
    parts.k = parts.k - v_select(denormal, v_set(BY_PRECISION(24, 54)), v_set(0));
    return parts;
}

/* Completes a logarithm of any base: keeps `result` for positive finite x, and replaces it for all other x. */
INLINE vec log_special(vec x, vec result) {
    const vec infinity = v_set(__builtin_inff());
    vec outside = v_select(v_eq(x, v_set(0)), -infinity, v_set(__builtin_nanf("")));
    result = v_select(v_gt(x, v_set(0)), result, outside);
    return v_select(v_eq(x, infinity), x, result);
}

/* The parts of 1 + x for x > -1. The rounding error of 1 + x, which is x - ((1 + x) - 1) for x <= 2^24 (2^53) and
 * negligible above, is multiplied by 2^-k and added to f. In 2^-k, k is limited so that the power is a normal number;
 * that changes nothing, because for larger k, 1 + x rounds to x, and the computed error is 0. */
INLINE log_parts log1p_split(vec x) {
    const vec one = v_set(1);
    vec sum = one + x;
    log_parts parts = log_split(sum);
    vec k = v_at_most(parts.k, v_set(64));
    parts.f = parts.f + (x - (sum - one)) * v_power_of_two(v_set(EXPONENT_MAGIC) - k);
    return parts;
}

/* The coefficients of r of step 2 above, from the highest on. A macro, because CUDA's functions read no array of a
 * file. */
#ifdef IS_64BIT
#define LOG_COEFFICIENTS                                                                          \
    {                                                                                             \
        0x1.ac7511bd74adfp-6, -0x1.ea054f80e881ap-5, 0x1.0a61f758006a4p-4, -0x1.d11fc0900cf16p-5, \
        0x1.d05a8e4abd8a7p-5, -0x1.fba1c82989p-5,    0x1.11ccfe19f8063p-4, -0x1.24d74e1cd5345p-4, \
        0x1.3b0b893b2feeep-4, -0x1.5550ee80e4fe4p-4, 0x1.745d3f1ba05acp-4, -0x1.9999c26ab6c93p-4, \
        0x1.c71c71e01ab07p-4, -0x1.ffffff2bf9c54p-4, 0x1.24924922a3ddfp-3, -0x1.555555566b32bp-3, \
        0x1.999999999f756p-3, -0x1.fffffffffef14p-3, 0x1.5555555555533p-2}
#else
#define LOG_COEFFICIENTS                                               \
    {-0x1.38b70ap-4f, 0x1.055b9p-3f,  -0x1.0d85p-3f,   0x1.22da14p-3f, \
     -0x1.54724cp-3f, 0x1.99a008p-3f, -0x1.000226p-2f, 0x1.555554p-2f}
#endif

/* t of step 2 above: ln(1 + f) = f + f*t. */
INLINE vec log_minimax(vec f) {
    static const element r[] = LOG_COEFFICIENTS;
    return f * v_fma(POLYNOMIAL(f, r), f, v_set(-0.5f));
}

/* Steps 2 and 3 above: ln x, given the k and f of x. */
INLINE vec log_natural(log_parts parts) {
    vec low = v_fma(parts.f, log_minimax(parts.f), parts.k * v_set(LOG_LN2_LO));
    return v_fma(parts.k, v_set(LOG_LN2_HI), parts.f + low);
}
