/* The logarithm, for log, log2, log10 and the operations that are built on them.
 *
 * ln x = k*ln 2 + ln(1 + f), x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
 * 1. Take k and f from the bits of x; f is exact. |ln(1 + f)| <= ln2/2, so the sum of the two terms cancels at most one
 *    bit.
 * 2. ln(1 + f) = f + f*t, t = f * (-1/2 + f*r(f)), r a minimax polynomial of degree 7 for the relative error of the
 *    logarithm, by Remez exchange on [sqrt(1/2) - 1, sqrt(2) - 1]: 5.9e-9, a tenth of a rounding error.
 * 3. Add k*LN2_HI_15BIT, which is exact without FMA, and k*LN2_LO_15BIT.
 * Error < 1 ulp, measured through log.
 * Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 5. */
#pragma once

#include "math/constants.h"
#include "simd/simd.h"

/* ln 2 = LN2_HI_15BIT + LN2_LO_15BIT. k has up to 8 bits, so its product with the first part, which has 15 bits, is
 * exact. */
#define LN2_HI_15BIT 0x1.62e4p-1f
#define LN2_LO_15BIT 0x1.7f7d1cp-20f

#define SQRT_HALF_BITS 0x3f3504f3

typedef struct log_parts {
    vf32 k;
    vf32 f;
} log_parts;

/* Returns whether all lanes are positive normal numbers, as log_split requires. */
INLINE int log_is_normal(vf32 x) {
    return vm32_all(vm32_and(vf32_ge(x, vf32_set(FLOAT32_MIN_NORMAL)), vf32_lt(x, vf32_set(__builtin_inff()))));
}

/* Step 1 above for a normal x > 0: its k and f. Subtracting the bits of sqrt(1/2) from those of x, as integers, leaves
 * k in the bits above the mantissa. */
INLINE log_parts log_split(vf32 x) {
    vi32 k = vi32_shift_right(vf32_bits(x) - vi32_set(SQRT_HALF_BITS), 23);
    log_parts parts;
    parts.k = vi32_to_vf32(k);
    parts.f = vf32_from_bits(vf32_bits(x) - vi32_shift_left(k, 23)) - vf32_set(1);
    return parts;
}

/* Step 1 above for any positive finite x: a denormal x is first scaled by 2^24. For zero, negative numbers, infinity
 * and NaN the parts are meaningless: log_special replaces the result. */
INLINE log_parts log_split_with_denormals(vf32 x) {
    vm32 denormal = vf32_lt(x, vf32_set(FLOAT32_MIN_NORMAL));
    log_parts parts = log_split(vf32_select(denormal, x * vf32_set(0x1p24f), x));
    parts.k = parts.k - vf32_select(denormal, vf32_set(24), vf32_set(0));
    return parts;
}

/* Completes a logarithm of any base: keeps `result` for positive finite x, and replaces it for all other x. */
INLINE vf32 log_special(vf32 x, vf32 result) {
    const vf32 infinity = vf32_set(__builtin_inff());
    vf32 outside = vf32_select(vf32_eq(x, vf32_set(0)), -infinity, vf32_set(__builtin_nanf("")));
    result = vf32_select(vf32_gt(x, vf32_set(0)), result, outside);
    return vf32_select(vf32_eq(x, infinity), x, result);
}

/* The parts of 1 + x for x > -1. The rounding error of 1 + x, which is x - ((1 + x) - 1) for x <= 2^24 and negligible
 * above, is multiplied by 2^-k and added to f. In 2^-k, k is limited so that the power is a normal number; that changes
 * nothing, because for larger k, 1 + x rounds to x, and the computed error is 0. */
INLINE log_parts log1p_split(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 sum = one + x;
    log_parts parts = log_split(sum);
    vf32 k = vf32_at_most(parts.k, vf32_set(64));
    parts.f = parts.f + (x - (sum - one)) * vf32_power_of_two(vf32_set(SIMD_EXPONENT_MAGIC) - k);
    return parts;
}

/* t of step 2 above: ln(1 + f) = f + f*t. */
INLINE vf32 log_minimax(vf32 f) {
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

/* Steps 2 and 3 above: ln x, given the k and f of x. */
INLINE vf32 log_natural(log_parts parts) {
    vf32 low = vf32_fma(parts.f, log_minimax(parts.f), parts.k * vf32_set(LN2_LO_15BIT));
    return vf32_fma(parts.k, vf32_set(LN2_HI_15BIT), parts.f + low);
}
