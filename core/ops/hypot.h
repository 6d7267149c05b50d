/* sqrt(x1^2 + x2^2); error < 1.5 ulp. Infinity takes precedence over NaN.
 * 1. Scale both by the power of 2 that brings the larger to [1, 2), so that its square neither overflows nor
 *    underflows. The exponent is limited so that the inverse of that power is a normal number, too.
 * 2. Take the square root of the sum of squares and scale it back. */
#pragma once

#include "element.h"

#define EXPONENT_STEP ((element_bits)1 << MANTISSA_BITS)        /* the lowest bit of the exponent */
#define EXPONENT_MASK ((2 * EXPONENT_BIAS + 1) * EXPONENT_STEP) /* all its bits */

INLINE vec op_hypot(vec x1, vec x2) {
    const vec infinity = v_set(__builtin_inff());
    vec a = v_abs(x1), b = v_abs(x2);
    vbits exponent = b_and(b_maximum(v_bits(a), v_bits(b)), b_set(EXPONENT_MASK));
    exponent = b_minimum(b_maximum(exponent, b_set(EXPONENT_STEP)), b_set(EXPONENT_MASK - 2 * EXPONENT_STEP));
    vec down = v_from_bits(b_set(EXPONENT_MASK - EXPONENT_STEP) - exponent), up = v_from_bits(exponent);
    a = a * down;
    b = b * down;
    vec size = v_sqrt(v_fma(a, a, b * b)) * up;
    return v_select(m_or(v_eq(a, infinity), v_eq(b, infinity)), infinity, size);
}
