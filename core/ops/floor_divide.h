/* The floor of the quotient. */
#pragma once

#include "element.h"

#if IS_FLOATING && defined IS_64BIT
/* The floor of the rounded quotient, less 1 if the quotient was rounded up to an integer, as the sign of the exact
 * remainder shows. Signs, infinities and NaN are as in float32, below. */
RARE vec floor_divide_rounded_up(vec x1, vec x2, vec whole) {
    vec remainder = v_fma_strict(-whole, x2, x1); /* NaN or meaningless if a product overflows: then x1 / x2 is exact */
    vmask opposite = b_lt(b_xor(v_bits(remainder), v_bits(x2)), b_set(0));
    return v_select(m_and(opposite, v_ne(remainder, v_set(0))), whole - v_set(1), whole);
}

INLINE vec op_floor_divide(vec x1, vec x2) {
    const vec zero = v_set(0);
    vec quotient = x1 / x2, whole = v_floor(quotient);
    /* only integers below 2^53 that are not 0 can be rounded up quotients */
    vmask suspect = m_and(m_and(v_eq(quotient, whole), v_lt(v_abs(whole), v_set(0x1p53))), v_ne(whole, zero));
    if (m_any(suspect)) {
        whole = v_select(suspect, floor_divide_rounded_up(x1, x2, whole), whole);
    }
    vec with_sign = v_copysign(x1, v_from_bits(b_xor(v_bits(x1), v_bits(x2))));
    whole = v_copysign(whole, with_sign);
    vmask underflowed = m_and(v_lt(with_sign, zero), v_eq(whole, zero));
    whole = v_select(underflowed, v_set(-1), whole);
    vec undefined = x1 - x1;
    return v_select(m_and(v_isnan(undefined), v_ne(x2, zero)), undefined, whole);
}
#elif IS_FLOATING
/* The floor of the quotient q, computed in double.
 * 1. Exact for |q| < 2^28: a quotient of two 24-bit numbers is an integer, or at least 2^-24 away from all integers
 *    but 0, which is more than the rounding error of a double, 2^-53 |q|. For larger |q|, floor does not change the
 *    float32 result.
 * 2. The result has the sign of the quotient, so -0 / 3 is -0.
 * 3. As in NumPy, infinity divided by anything but 0 is NaN. A finite nonzero number divided by the infinity of the
 *    opposite sign is -1, the floor of a negative quotient too small for any float. */
INLINE vf32 op_floor_divide(vf32 x1, vf32 x2) {
    const vf32 zero = vf32_set(0);
    /* x1 with the sign of the quotient */
    vf32 with_sign = vf32_copysign(x1, vf32_from_bits(vi32_xor(vf32_bits(x1), vf32_bits(x2))));
    vf32 whole = wf64_to_vf32(wf64_floor(vf32_to_wf64(x1) / vf32_to_wf64(x2)));
    whole = vf32_copysign(whole, with_sign);
    vm32 underflowed = vm32_and(vf32_lt(with_sign, zero), vf32_eq(whole, zero));
    whole = vf32_select(underflowed, vf32_set(-1), whole);
    vf32 undefined = x1 - x1;
    return vf32_select(vm32_and(vf32_isnan(undefined), vf32_ne(x2, zero)), undefined, whole);
}
#elif defined IS_UNSIGNED && defined IS_64BIT
INLINE vec op_floor_divide(vec x1, vec x2) {
    const vec zero = v_set(0);
    vmask is_zero = v_eq(x2, zero);
    return v_select(is_zero, zero, v_quotient(x1, v_select(is_zero, v_set(1), x2)));
}
#elif defined IS_64BIT
/* The truncated quotient, less 1 if the remainder and the divisor have different signs. */
INLINE vec op_floor_divide(vec x1, vec x2) {
    const vec zero = v_set(0), one = v_set(1);
    vmask is_zero = v_eq(x2, zero), is_minus_one = v_eq(x2, v_set(-1)); /* -2^63 / -1 wraps */
    vec divisor = v_select(m_or(is_zero, is_minus_one), one, x2), quotient = v_quotient(x1, divisor);
    vec remainder = x1 - quotient * divisor;
    vmask is_above = m_and(v_ne(remainder, zero), v_lt(v_xor(remainder, divisor), zero));
    quotient = v_select(is_minus_one, -x1, v_select(is_above, quotient - one, quotient));
    return v_select(is_zero, zero, quotient);
}
#else
/* Exact: a quotient is an integer, or at least 1 / |x2| away from all integers. In float32, where it is rounded by up
 * to 2^-24 |x1 / x2|, that is enough if |x1| < 2^24; a divisor that is rounded is larger than such an x1. In double it
 * always is. Most integers are small, and those of 1 and 2 bytes are. */
enum { FLOOR_DIVIDE_SMALL = 1 << 24 };

#ifdef IS_UNSIGNED
INLINE vu32 op_floor_divide(vu32 x1, vu32 x2) {
    const vu32 zero = vu32_set(0);
    vm32 is_zero = vu32_eq(x2, zero);
    vu32 divisor = vu32_select(is_zero, vu32_set(1), x2), whole;
    if (vm32_any(vu32_ge(x1, vu32_set(FLOOR_DIVIDE_SMALL)))) {
        whole = vu32_quotient(x1, divisor);
    } else {
        vf32 quotient = vi32_to_vf32(vu32_to_vi32(x1)) / vu32_to_vf32(divisor);
        whole = vi32_to_vu32(vf32_to_vi32(quotient));
    }
    return vu32_select(is_zero, zero, whole);
}
#else
INLINE vi32 op_floor_divide(vi32 x1, vi32 x2) {
    vi32 whole;
    vu32 above_least = vi32_to_vu32(x1 + vi32_set(FLOOR_DIVIDE_SMALL - 1));
    if (vm32_any(vu32_gt(above_least, vu32_set(2 * (FLOOR_DIVIDE_SMALL - 1))))) {
        whole = wf64_to_vi32(wf64_floor(vi32_to_wf64(x1) / vi32_to_wf64(x2)));
    } else {
        whole = vf32_to_vi32(vf32_floor(vi32_to_vf32(x1) / vi32_to_vf32(x2)));
    }
    whole = vi32_select(vi32_eq(x2, vi32_set(-1)), -x1, whole); /* -2^31 / -1 wraps instead of saturating */
    return vi32_select(vi32_eq(x2, vi32_set(0)), vi32_set(0), whole);
}
#endif
#endif
