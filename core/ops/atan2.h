/* The angle of the point (x2, x1); error < 1.8 ulp.
 * 1. t = the smaller of |x1| and |x2| over the larger. 0/0 counts as 0, infinity/infinity as 1.
 * 2. angle = atan_minimax(t), in the first octant.
 * 3. Reflect the angle into the octant of the point: base + angle or base - angle, where base is 0, pi/2 or pi. PI_2_LO
 *    corrects the rounding of the base to float32. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_atan2(vf32 x1, vf32 x2) {
    vf32 y = vf32_abs(x1), x = vf32_abs(x2);
    vm32 steep = vf32_gt(y, x), left = vi32_lt(vf32_bits(x2), vi32_set(0));
    vf32 smaller = vf32_select(steep, x, y), larger = vf32_select(steep, y, x);
    vf32 t = smaller / vf32_at_least(larger, vf32_set(0x1p-149f)); /* the smallest denormal, so that 0/0 becomes 0 */
    t = vf32_select(vf32_eq(smaller, vf32_set(__builtin_inff())), vf32_at_most(larger, vf32_set(1)), t); /* 1 or NaN */
    vf32 angle = atan_minimax(t);
    angle = vf32_select(vm32_xor(steep, left), -angle, angle);
    vf32 base = vf32_select(left, vf32_set(2 * PI_2_HI), vf32_set(0));
    base = vf32_select(steep, vf32_set(PI_2_HI), base);
    return vf32_copysign(base + vf32_fma(base, vf32_set(PI_2_LO / PI_2_HI), angle), x1);
}
