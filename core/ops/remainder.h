/* x1 - floor(x1 / x2) * x2, exact for quotients of any size.
 * 1. Reduce |x1| modulo |x2| * 2^(28 n), where n is the largest integer for which this divisor is at most |x1|, then
 *    modulo |x2| * 2^(28 (n - 1)), and so on down to |x2|. So each quotient is below 2^28.
 * 2. As in NumPy, add x2 to a remainder whose sign differs from that of x2; a zero remainder has the sign of x2. */
#pragma once

#include "ops/floor_divide.h"

#if IS_FLOATING

/* x mod divisor for 0 <= x < REMAINDER_STEP * divisor, exactly. */
#ifdef IS_64BIT
#define REMAINDER_STEP 0x1p50
/* The floor of the rounded quotient is right or 1 too large. The difference has no more bits than the divisor. */
INLINE vdouble remainder_step(vdouble x, vdouble divisor) {
    vec reduced = v_fma_strict(-v_floor(x / divisor), divisor, x);
    reduced = v_select(v_lt(reduced, v_set(0)), reduced + divisor, reduced);
    return v_select(v_lt(x, divisor), x, reduced); /* `reduced` is NaN if the divisor is infinite */
}
#else
#define REMAINDER_STEP 0x1p28
/* The floor of the quotient is exact as in floor_divide, its product with the divisor has at most 52 bits, and the
 * difference has no more bits than the divisor. */
INLINE vdouble remainder_step(vdouble x, vdouble divisor) {
    vdouble reduced = x - wf64_floor(x / divisor) * divisor;
    return d_select(d_lt(x, divisor), x, reduced); /* `reduced` is NaN if the divisor is infinite */
}
#endif

INLINE vec op_remainder(vec x1, vec x2) {
    const vdouble step = d_set(REMAINDER_STEP);
    vec size = v_abs(x1) + (x1 - x1), divisor_size = v_abs(x2); /* size: NaN if x1 is infinite */
    vec dividend = v_select(v_eq(divisor_size, v_set(0)), v_set(__builtin_nanf("")), size);
    vdouble wide = v_to_double(dividend);
    vdouble last = v_to_double(divisor_size), divisor = last;
    vmask far = v_ge(size, divisor_size * v_set((element)REMAINDER_STEP));
    while (m_any(far)) {
        divisor = d_select(d_ge(wide, divisor * step), divisor * step, divisor);
        far = m_from_double(d_ge(wide, divisor * step));
    }
    for (;;) {
        wide = remainder_step(wide, divisor);
        if (!m_any(m_from_double(d_gt(divisor, last)))) {
            break;
        }
        divisor = d_select(d_gt(divisor, last), divisor / step, divisor);
    }
    vec remainder = v_from_double(wide);
    vmask signs_differ = b_lt(b_xor(v_bits(x1), v_bits(x2)), b_set(0));
    signs_differ = m_and(signs_differ, v_ne(remainder, v_set(0)));
    return v_copysign(v_select(signs_differ, divisor_size - remainder, remainder), x2);
}
#else
INLINE vec op_remainder(vec x1, vec x2) {
    vec remainder = x1 - op_floor_divide(x1, x2) * x2;
    return v_select(v_eq(x2, v_set(0)), v_set(0), remainder);
}
#endif
