/* |x|^y = 2^(y log2 |x|). Error < 0.9 ulp, or 0.6 ulp if the result is normal; exact where a float32
 * can represent the power.
 * 1. log2 |x| = k + s P(s^2), |x| = 2^k (1 + f), s = f/(2 + f). Computed in double: |y log2 |x|| is up to 150, and its
 *    absolute error becomes a relative error of the result. P is a minimax polynomial of degree 4 by Remez exchange on
 *    [0, 0.0295], with an error of 4.2e-12.
 * 2. y log2 |x| = n + r/ln 2, n an integer, in double.
 * 3. |x|^y = 2^n e^r, e^r = 1 + r + r^2 q(r) with q of math/exp.h. q is computed in float32 and the sum in double, so
 *    the main error is the rounding of the sum to float32.
 * 4. Special values of IEEE 754-2019, 9.2.1. */
#pragma once

#include "element.h"
#include "math/exp.h"
#include "math/log.h"

#if IS_FLOATING

/* Step 1 above: log2 |x|, from the k and f of |x|. */
INLINE wf64 pow_log2(log_parts parts) {
    wf64 f = vf32_to_wf64(parts.f);
    wf64 s = f / (f + wf64_set(2));
    wf64 square = s * s;
    wf64 p = square * wf64_set(0x1.5ce7cd8f69a61p-2) + wf64_set(0x1.a58d8fc49d905p-2);
    p = p * square + wf64_set(0x1.27777fda50da3p-1);
    p = p * square + wf64_set(0x1.ec709d12e192ap-1);
    p = p * square + wf64_set(0x1.71547652bede5p+1);
    return vf32_to_wf64(parts.k) + s * p;
}

/* Steps 2 and 3 above: 2^exponent. n is the exponent, clamped to +-160, where the result is already infinite or 0,
 * and then rounded. r is computed from the unclamped exponent, so |r| is too large if the exponent is outside +-160;
 * then the bounds on the mantissa keep the result infinite or 0. */
INLINE vf32 pow_exp2(wf64 exponent) {
    vf32 bounded = vf32_at_most(vf32_at_least(wf64_to_vf32(exponent), vf32_set(-160)), vf32_set(160));
    vf32 n_magic = bounded + vf32_set(SIMD_ROUND_MAGIC);
    vf32 n = n_magic - vf32_set(SIMD_ROUND_MAGIC);
    wf64 r_wide = (exponent - vf32_to_wf64(n)) * wf64_set(LN2_F64);
    vf32 r = wf64_to_vf32(r_wide);
    vf32 mantissa = wf64_to_vf32(r_wide + wf64_set(1) + vf32_to_wf64(exp_minimax(r) * (r * r)));
    return vf32_scale(vf32_at_most(vf32_at_least(mantissa, vf32_set(0.5f)), vf32_set(2)), n_magic);
}

/* Step 4 above: returns x^y, given result = |x|^y for finite nonzero x and finite y. */
INLINE vf32 pow_special(vf32 x, vf32 y, vf32 result) {
    const vf32 zero = vf32_set(0), one = vf32_set(1), infinity = vf32_set(__builtin_inff());
    vf32 size = vf32_abs(x), y_size = vf32_abs(y);
    vm32 is_limit = vm32_or(vm32_or(vf32_eq(size, zero), vf32_eq(size, infinity)), vf32_eq(y_size, infinity));
    vm32 is_zero = vm32_xor(vf32_gt(size, one), vf32_gt(y, zero));
    result = vf32_select(is_limit, vf32_select(is_zero, zero, infinity), result);
    vf32 half = y * vf32_set(0.5f);
    vm32 is_integer = vf32_eq(vf32_trunc(y), y);
    vm32 is_odd = vm32_and(is_integer, vf32_ne(vf32_trunc(half), half));
    result = vf32_copysign(result, vf32_select(is_odd, x, zero));
    vm32 is_nan = vm32_and(vm32_and(vf32_lt(x, zero), vf32_gt(x, -infinity)), vm32_not(is_integer));
    is_nan = vm32_or(is_nan, vm32_or(vf32_isnan(x), vf32_isnan(y)));
    result = vf32_select(is_nan, vf32_set(__builtin_nanf("")), result);
    vm32 is_one = vm32_or(vf32_eq(y, zero), vf32_eq(x, one));
    is_one = vm32_or(is_one, vm32_and(vf32_eq(x, -one), vf32_eq(y_size, infinity)));
    return vf32_select(is_one, one, result);
}

INLINE vf32 op_pow(vf32 x1, vf32 x2) {
    int ordinary = log_is_normal(x1) && vm32_all(vf32_lt(vf32_abs(x2), vf32_set(__builtin_inff())));
    log_parts parts = ordinary ? log_split(x1) : log_split_with_denormals(vf32_abs(x1));
    vf32 result = pow_exp2(vf32_to_wf64(x2) * pow_log2(parts));
    return ordinary ? result : pow_special(x1, x2, result);
}
#else
/* Computed by repeated squaring. If x2 is negative, the result is 0 unless x1 is 1 or -1, whose powers depend on the
 * last bit of x2 alone. */
INLINE vec op_pow(vec x1, vec x2) {
    const vec zero = b_set(0), one = b_set(1);
    vmask negative = b_lt(x2, zero);
    vmask vanishes = m_and(negative, b_ne(b_and(x1 + one, b_set(-3)), zero));
    vec bits = b_select(negative, b_and(x2, one), x2);
    vec square = x1, result = b_select(vanishes, zero, one);
    while (m_any(b_ne(bits, zero))) {
        result = b_select(b_ne(b_and(bits, one), zero), result * square, result);
        square = square * square;
        bits = b_shift_right(bits, 1);
    }
    return result;
}
#endif
