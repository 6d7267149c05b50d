/* |x|^y = 2^(y log2 |x|). An error of the exponent, which is up to 150 large, is one of the result, so the logarithm
 * and its product with y are of double precision; what is left for 2^f after the whole part of the exponent is of
 * float's, but for the sum 1 + r, whose rounding is then the only one that counts: a power that is a float comes out
 * exactly. With x = 2^k (1 + f) and s = f / (2 + f), log2 x = k + s P(s^2), P a minimax polynomial of degree 4, 4.2e-12
 * off; coefficients by Remez exchange on [0, 0.0295]. < 0.6 ulp, denormal results < 0.9 ulp.
 * The special values are those of IEEE 754-2019, 9.2.1. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE wf64 pow_logarithm(log_parts parts) {
    wf64 f = vf32_to_wf64(parts.f);
    wf64 s = f / (f + wf64_set(2));
    wf64 square = s * s;
    wf64 p = square * wf64_set(0x1.5ce7cd8f69a61p-2) + wf64_set(0x1.a58d8fc49d905p-2);
    p = p * square + wf64_set(0x1.27777fda50da3p-1);
    p = p * square + wf64_set(0x1.ec709d12e192ap-1);
    p = p * square + wf64_set(0x1.71547652bede5p+1);
    return vf32_to_wf64(parts.power) + s * p;
}

/* 2^exponent. Beyond +-160, where the result has long reached infinity and 0, the mantissa says nothing. */
INLINE vf32 pow_exponential(wf64 exponent) {
    vf32 near = vf32_at_most(vf32_at_least(wf64_to_vf32(exponent), vf32_set(-160)), vf32_set(160));
    vf32 shifted = near + vf32_set(SIMD_SHIFT);
    vf32 power = shifted - vf32_set(SIMD_SHIFT);
    wf64 rest = (exponent - vf32_to_wf64(power)) * wf64_set(0x1.62e42fefa39efp-1);
    vf32 r = wf64_to_vf32(rest);
    vf32 mantissa = wf64_to_vf32(rest + wf64_set(1) + vf32_to_wf64(exp_bend(r) * (r * r)));
    return vf32_scale(vf32_at_most(vf32_at_least(mantissa, vf32_set(0.5f)), vf32_set(2)), shifted);
}

/* What neither zeros, infinities and NaN nor negative x leave as it is; result is |x|^y. */
INLINE vf32 pow_special(vf32 x, vf32 y, vf32 result) {
    const vf32 zero = vf32_set(0), one = vf32_set(1), infinity = vf32_set(__builtin_inff());
    vf32 size = vf32_abs(x), reach = vf32_abs(y);
    vm32 extreme = vm32_or(vm32_or(vf32_eq(size, zero), vf32_eq(size, infinity)), vf32_eq(reach, infinity));
    vm32 shrinks = vm32_xor(vf32_gt(size, one), vf32_gt(y, zero));
    result = vf32_select(extreme, vf32_select(shrinks, zero, infinity), result);
    vf32 half = y * vf32_set(0.5f);
    vm32 whole = vf32_eq(vf32_trunc(y), y);
    vm32 odd = vm32_and(whole, vf32_ne(vf32_trunc(half), half));
    result = vf32_copysign(result, vf32_select(odd, x, zero));
    vm32 none = vm32_and(vm32_and(vf32_lt(x, zero), vf32_gt(x, -infinity)), vm32_not(whole));
    none = vm32_or(none, vm32_or(vf32_isnan(x), vf32_isnan(y)));
    result = vf32_select(none, vf32_set(__builtin_nanf("")), result);
    vm32 unit = vm32_or(vf32_eq(y, zero), vf32_eq(x, one));
    unit = vm32_or(unit, vm32_and(vf32_eq(x, -one), vf32_eq(reach, infinity)));
    return vf32_select(unit, one, result);
}

INLINE vf32 op_pow_float32(vf32 x1, vf32 x2) {
    int ordinary = log_is_normal(x1) && vm32_all(vf32_lt(vf32_abs(x2), vf32_set(__builtin_inff())));
    log_parts parts = ordinary ? log_split(x1) : log_split_any(vf32_abs(x1));
    vf32 result = pow_exponential(vf32_to_wf64(x2) * pow_logarithm(parts));
    return ordinary ? result : pow_special(x1, x2, result);
}

/* By repeated squaring. To a negative power, only 1 and -1 are not 0, and these depend on nothing but its last bit. */
INLINE vi32 op_pow_int32(vi32 x1, vi32 x2) {
    const vi32 zero = vi32_set(0), one = vi32_set(1);
    vm32 negative = vi32_lt(x2, zero);
    vm32 vanishes = vm32_and(negative, vi32_ne(vi32_and(x1 + one, vi32_set(-3)), zero));
    vi32 left = vi32_select(negative, vi32_and(x2, one), x2);
    vi32 square = x1, result = vi32_select(vanishes, zero, one);
    while (vm32_any(vi32_ne(left, zero))) {
        result = vi32_select(vi32_ne(vi32_and(left, one), zero), result * square, result);
        square = square * square;
        left = vi32_shift_right(left, 1);
    }
    return result;
}
