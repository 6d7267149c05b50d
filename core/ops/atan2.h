/* The angle of the point (x2, x1); error < 1.8 ulp.
 * 1. t = the smaller of |x1| and |x2| over the larger. 0/0 counts as 0, infinity/infinity as 1.
 * 2. angle = atan_minimax(t), in the first octant.
 * 3. Reflect the angle into the octant of the point: base + angle or base - angle, where base is 0, pi/2 or pi. PI_2_LO
 *    corrects the rounding of the base. */
#pragma once

#include "math/inverse_trig.h"

INLINE vec op_atan2(vec x1, vec x2) {
    vec y = v_abs(x1), x = v_abs(x2);
    vmask steep = v_gt(y, x), left = b_lt(v_bits(x2), b_set(0));
    vec smaller = v_select(steep, x, y), larger = v_select(steep, y, x);
    vec t = smaller /
            v_at_least(larger,
                       v_set(BY_PRECISION(0x1p-149f, 0x1p-1074))); /* the smallest denormal, so that 0/0 becomes 0 */
    t = v_select(v_eq(smaller, v_set(__builtin_inff())), v_at_most(larger, v_set(1)), t); /* 1 or NaN */
    vec angle = atan_minimax(t);
    angle = v_select(m_xor(steep, left), -angle, angle);
    vec base = v_select(left, v_set(2 * PI_2_HI), v_set(0));
    base = v_select(steep, v_set(PI_2_HI), base);
    return v_copysign(base + v_fma(base, v_set(PI_2_LO / PI_2_HI), angle), x1);
}
