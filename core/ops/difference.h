/* Rounded once. */
#pragma once

#include "element.h"

/* x, or if it is unsigned, x - 2^(n-1), as a signed integer: the differences are the same. */
INLINE vbits difference_signed(vec x) {
#ifdef IS_UNSIGNED
    return b_xor(v_bits(x), b_set(BITS_MIN));
#else
    return x;
#endif
}

#ifdef IS_64BIT
/* If the difference overflows, computes half of it, with a last bit that is set if any bit was lost: the conversion
 * rounds it as it would round the difference. */
INLINE vf64 op_difference(vec x1, vec x2) {
    const vi64 zero = b_set(0), one = b_set(1);
    vi64 a = difference_signed(x1), b = difference_signed(x2), difference = a - b;
    vmask overflow = b_lt(b_and(b_xor(a, b), b_xor(a, difference)), zero);
    vi64 lost = b_and(a, one) - b_and(b, one); /* -1, 0 or 1 */
    vi64 half = b_shift_right(a, 1) - b_shift_right(b, 1) + b_shift_right(lost, 1);
    vf64 doubled = vi64_to_vf64(b_or(half, b_and(lost, one))) * vf64_set(2);
    return vf64_select(overflow, doubled, vi64_to_vf64(difference));
}
#else
INLINE vf32 op_difference(vec x1, vec x2) {
    return wi64_to_vf32(vi32_to_wi64(difference_signed(x1)) - vi32_to_wi64(difference_signed(x2)));
}
#endif
