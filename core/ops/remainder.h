/* x1 - floor(x1 / x2) * x2, exact for quotients of any size.
 * 1. Reduce |x1| modulo |x2| * 2^(28 n), where n is the largest integer for which this divisor is at most |x1|, then
 *    modulo |x2| * 2^(28 (n - 1)), and so on down to |x2|. So each quotient is below 2^28.
 * 2. As in NumPy, add x2 to a remainder whose sign differs from that of x2; a zero remainder has the sign of x2. */
#pragma once

#include "ops/floor_divide.h"

#if IS_FLOATING

#define NAN_BITS 0x7fc00000

/* x mod divisor for 0 <= x < 2^28 divisor, exactly: the floor of the quotient is exact as in floor_divide, its product
 * with the divisor has at most 52 bits, and the difference has no more bits than the divisor. */
INLINE wf64 remainder_step(wf64 x, wf64 divisor) {
    wf64 reduced = x - wf64_floor(x / divisor) * divisor;
    return wf64_select(wf64_lt(x, divisor), x, reduced); /* `reduced` is NaN if the divisor is infinite */
}

INLINE vf32 op_remainder(vf32 x1, vf32 x2) {
    const wf64 step = wf64_set(0x1p28);
    vf32 size = vf32_abs(x1) + (x1 - x1), divisor_size = vf32_abs(x2); /* size: NaN if x1 is infinite */
    vf32 dividend = vf32_select(vf32_eq(divisor_size, vf32_set(0)), vf32_from_bits(vi32_set(NAN_BITS)), size);
    wf64 wide = vf32_to_wf64(dividend);
    wf64 last = vf32_to_wf64(divisor_size), divisor = last;
    vm32 far = vf32_ge(size, divisor_size * vf32_set(0x1p28f));
    while (vm32_any(far)) {
        divisor = wf64_select(wf64_ge(wide, divisor * step), divisor * step, divisor);
        far = wm64_to_vm32(wf64_ge(wide, divisor * step));
    }
    for (;;) {
        wide = remainder_step(wide, divisor);
        if (!vm32_any(wm64_to_vm32(wf64_gt(divisor, last)))) {
            break;
        }
        divisor = wf64_select(wf64_gt(divisor, last), divisor / step, divisor);
    }
    vf32 remainder = wf64_to_vf32(wide);
    vm32 signs_differ = vi32_lt(vi32_xor(vf32_bits(x1), vf32_bits(x2)), vi32_set(0));
    signs_differ = vm32_and(signs_differ, vf32_ne(remainder, vf32_set(0)));
    return vf32_copysign(vf32_select(signs_differ, divisor_size - remainder, remainder), x2);
}
#else
INLINE vec op_remainder(vec x1, vec x2) {
    vec remainder = x1 - op_floor_divide(x1, x2) * x2;
    return v_select(v_eq(x2, v_set(0)), v_set(0), remainder);
}
#endif
