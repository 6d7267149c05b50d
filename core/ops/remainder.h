/* Exact, however large the quotient: multiples of x2 2^28 2^28 ... are taken out before those of x2. As in NumPy, a rest
 * whose sign is not the divisor's has the divisor added, and zero has the divisor's sign. */
#pragma once

#include "ops/floor_divide.h"

/* rest less the whole multiples of part in it, for rest < 2^28 part: the floor of the quotient is exact as in
 * floor_divide, the product has at most 52 bits, and the difference no more than part has. */
INLINE wf64 remainder_of(wf64 rest, wf64 part) {
    wf64 less = rest - wf64_floor(rest / part) * part;
    return wf64_select(wf64_lt(rest, part), rest, less); /* part may be infinite */
}

INLINE vf32 op_remainder_float32(vf32 x1, vf32 x2) {
    const wf64 step = wf64_set(0x1p28);
    vf32 size = vf32_abs(x1) + (x1 - x1), most = vf32_abs(x2); /* infinity has no remainder */
    wf64 rest = vf32_to_wf64(vf32_select(vf32_eq(most, vf32_set(0)), vf32_from_bits(vi32_set(0x7fc00000)), size));
    wf64 divisor = vf32_to_wf64(most), part = divisor;
    vm32 far = vf32_ge(size, most * vf32_set(0x1p28f));
    while (vm32_any(far)) {
        part = wf64_select(wf64_ge(rest, part * step), part * step, part);
        far = wm64_to_vm32(wf64_ge(rest, part * step));
    }
    for (;;) {
        rest = remainder_of(rest, part);
        if (!vm32_any(wm64_to_vm32(wf64_gt(part, divisor)))) {
            break;
        }
        part = wf64_select(wf64_gt(part, divisor), part / step, part);
    }
    vf32 found = wf64_to_vf32(rest);
    vm32 other_side = vi32_lt(vi32_xor(vf32_bits(x1), vf32_bits(x2)), vi32_set(0));
    other_side = vm32_and(other_side, vf32_ne(found, vf32_set(0)));
    return vf32_copysign(vf32_select(other_side, most - found, found), x2);
}

INLINE vi32 op_remainder_int32(vi32 x1, vi32 x2) {
    vi32 rest = x1 - op_floor_divide_int32(x1, x2) * x2;
    return vi32_select(vi32_eq(x2, vi32_set(0)), vi32_set(0), rest);
}
