/* sqrt(x1^2 + x2^2); error < 1.5 ulp. Infinity takes precedence over NaN.
 * 1. Scale both by the power of 2 that brings the larger to [1, 2), so that its square neither overflows nor
 *    underflows. The exponent is limited so that the inverse of that power is a normal number, too.
 * 2. Take the square root of the sum of squares and scale it back. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_hypot(vf32 x1, vf32 x2) {
    const vf32 infinity = vf32_set(__builtin_inff());
    vf32 a = vf32_abs(x1), b = vf32_abs(x2);
    vi32 exponent = vi32_and(vi32_maximum(vf32_bits(a), vf32_bits(b)), vi32_set(0xff << 23));
    exponent = vi32_minimum(vi32_maximum(exponent, vi32_set(1 << 23)), vi32_set(253 << 23));
    vf32 down = vf32_from_bits(vi32_set(254 << 23) - exponent), up = vf32_from_bits(exponent);
    a = a * down;
    b = b * down;
    vf32 size = vf32_sqrt(vf32_fma(a, a, b * b)) * up;
    return vf32_select(vm32_or(vf32_eq(a, infinity), vf32_eq(b, infinity)), infinity, size);
}
