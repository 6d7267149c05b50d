/* Rounded once. */
#pragma once

#include "element.h"

#ifdef IS_64BIT
/* If the difference overflows, computes half of it, with a last bit that is set if any bit was lost: the conversion
 * rounds it as it would round the difference. */
INLINE vf64 op_difference(vi64 x1, vi64 x2) {
    const vi64 zero = v_set(0), one = v_set(1);
    vi64 difference = x1 - x2;
    vmask overflow = v_lt(v_and(v_xor(x1, x2), v_xor(x1, difference)), zero);
    vi64 lost = v_and(x1, one) - v_and(x2, one); /* -1, 0 or 1 */
    vi64 half = v_shift_right(x1, 1) - v_shift_right(x2, 1) + v_shift_right(lost, 1);
    vf64 doubled = vi64_to_vf64(v_or(half, v_and(lost, one))) * vf64_set(2);
    return vf64_select(overflow, doubled, vi64_to_vf64(difference));
}
#else
INLINE vf32 op_difference(vi32 x1, vi32 x2) { return wi64_to_vf32(vi32_to_wi64(x1) - vi32_to_wi64(x2)); }
#endif
