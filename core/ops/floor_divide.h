/* The floor of the quotient in double precision. Two floats of 24 bits whose quotient q is no integer keep it at least
 * 2^-24 away from one: more than a double's rounding, 2^-53 q, as long as q < 2^28. Beyond, the floor changes no digit of
 * the float. As in NumPy, infinity over a number is NaN, and a negative number over infinity is -1, the floor of what no
 * float is small enough for. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_floor_divide_float32(vf32 x1, vf32 x2) {
    const vf32 zero = vf32_set(0);
    vf32 with_sign = vf32_copysign(x1, vf32_from_bits(vi32_xor(vf32_bits(x1), vf32_bits(x2)))); /* the quotient's */
    vf32 whole = wf64_to_vf32(wf64_floor(vf32_to_wf64(x1) / vf32_to_wf64(x2)));
    whole = vf32_copysign(whole, with_sign); /* -0 / 3 is -0 */
    vm32 vanished = vm32_and(vf32_lt(with_sign, zero), vf32_eq(whole, zero));
    whole = vf32_select(vanished, vf32_set(-1), whole);
    vf32 undefined = x1 - x1;
    return vf32_select(vm32_and(vf32_isnan(undefined), vf32_ne(x2, zero)), undefined, whole);
}

/* Quotients that are no integers are at least 1 / x2 away from one, here more than 2^-32 of their size. */
INLINE vi32 op_floor_divide_int32(vi32 x1, vi32 x2) {
    vi32 whole = wf64_to_vi32(wf64_floor(vi32_to_wf64(x1) / vi32_to_wf64(x2)));
    whole = vi32_select(vi32_eq(x2, vi32_set(-1)), -x1, whole); /* -2^31 / -1 wraps instead of saturating */
    return vi32_select(vi32_eq(x2, vi32_set(0)), vi32_set(0), whole);
}
