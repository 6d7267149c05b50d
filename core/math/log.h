/* What logarithms share.
 *
 * x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), so ln x = k ln 2 + ln(1 + f), and the two parts never cancel by more
 * than half. f is exact. ln(1 + f) = f + f t, t = f (-1/2 + f r(f)), r a minimax polynomial of degree 7 for the
 * relative error of the logarithm: 5.9e-9, a tenth of what one rounding costs. Constants that multiply k are split, so
 * that its product with the first part (15 bits) is exact without FMA. Source: Cody and Waite, Software Manual for the
 * Elementary Functions (1980), chapter 5; coefficients by Remez exchange on [sqrt(1/2) - 1, sqrt(2) - 1]. */
#pragma once

#include "simd/simd.h"

typedef struct log_parts {
    vf32 power; /* k */
    vf32 f;
} log_parts;

/* Whether log_split takes all lanes: positive normal numbers. */
INLINE int log_is_normal(vf32 x) {
    return vm32_all(vm32_and(vf32_ge(x, vf32_set(0x1p-126f)), vf32_lt(x, vf32_set(__builtin_inff()))));
}

/* For normal x > 0. The bits above those of sqrt(1/2), as a number, have k above the mantissa. */
INLINE log_parts log_split(vf32 x) {
    vi32 k = vi32_shift_right(vf32_bits(x) - vi32_set(0x3f3504f3), 23);
    log_parts parts;
    parts.power = vi32_to_vf32(k);
    parts.f = vf32_from_bits(vf32_bits(x) - vi32_shift_left(k, 23)) - vf32_set(1);
    return parts;
}

/* For denormal x as well. What it makes of zero, negative numbers, infinity and NaN, log_special replaces. */
INLINE log_parts log_split_any(vf32 x) {
    vm32 denormal = vf32_lt(x, vf32_set(0x1p-126f));
    log_parts parts = log_split(vf32_select(denormal, x * vf32_set(0x1p24f), x));
    parts.power = parts.power - vf32_select(denormal, vf32_set(24), vf32_set(0));
    return parts;
}

/* The logarithm of x, to any base: `result` where x is positive and finite. */
INLINE vf32 log_special(vf32 x, vf32 result) {
    const vf32 infinity = vf32_set(__builtin_inff());
    vf32 outside = vf32_select(vf32_eq(x, vf32_set(0)), -infinity, vf32_set(__builtin_nanf("")));
    result = vf32_select(vf32_gt(x, vf32_set(0)), result, outside);
    return vf32_select(vf32_eq(x, infinity), x, result);
}

/* The parts of 1 + x for x > -1, -1 excluded. What 1 + x loses by rounding is x - ((1 + x) - 1), exactly, and goes into
 * f; where the sum is all x and k large, nothing is lost. */
INLINE log_parts log1p_split(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 sum = one + x;
    log_parts parts = log_split(sum);
    vf32 power = vf32_at_most(parts.power, vf32_set(64));
    parts.f = parts.f + (x - (sum - one)) * vf32_power_of_two(vf32_set(SIMD_EXPONENT) - power);
    return parts;
}

/* t: ln(1 + f) = f + f t. */
INLINE vf32 log_bend(vf32 f) {
    vf32 r = vf32_set(-0x1.38b70ap-4f);
    r = vf32_fma(r, f, vf32_set(0x1.055b9p-3f));
    r = vf32_fma(r, f, vf32_set(-0x1.0d85p-3f));
    r = vf32_fma(r, f, vf32_set(0x1.22da14p-3f));
    r = vf32_fma(r, f, vf32_set(-0x1.54724cp-3f));
    r = vf32_fma(r, f, vf32_set(0x1.99a008p-3f));
    r = vf32_fma(r, f, vf32_set(-0x1.000226p-2f));
    r = vf32_fma(r, f, vf32_set(0x1.555554p-2f));
    return f * vf32_fma(r, f, vf32_set(-0.5f));
}

/* ln of what was split. */
INLINE vf32 log_natural(log_parts parts) {
    vf32 low = vf32_fma(parts.f, log_bend(parts.f), parts.power * vf32_set(0x1.7f7d1cp-20f));
    return vf32_fma(parts.power, vf32_set(0x1.62e4p-1f), parts.f + low);
}
