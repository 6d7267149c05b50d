/* The angle of the point (x2, x1), from the smaller over the larger size: atan t in the first eighth of the circle, the
 * others by mirrors, as base + signed angle. Zero over zero counts as 0, infinity over infinity as 1. < 1.8 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_atan2_float32(vf32 x1, vf32 x2) {
    vf32 y = vf32_abs(x1), x = vf32_abs(x2);
    vm32 steep = vf32_gt(y, x), left = vi32_lt(vf32_bits(x2), vi32_set(0));
    vf32 smaller = vf32_select(steep, x, y), larger = vf32_select(steep, y, x);
    vf32 t = smaller / vf32_at_least(larger, vf32_set(0x1p-149f));
    t = vf32_select(vf32_eq(smaller, vf32_set(__builtin_inff())), vf32_at_most(larger, vf32_set(1)), t); /* or NaN */
    vf32 angle = arc_tan(t);
    angle = vf32_select(vm32_xor(steep, left), -angle, angle);
    vf32 base = vf32_select(left, vf32_set(2 * HALF_PI), vf32_set(0));
    base = vf32_select(steep, vf32_set(HALF_PI), base);
    return vf32_copysign(base + vf32_fma(base, vf32_set(HALF_PI_REST / HALF_PI), angle), x1);
}
