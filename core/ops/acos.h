/* acos x from the angle that asin_reduce(x) computes; error < 1.2 ulp.
 * 1. |x| <= 1/2: pi/2 - asin x. Otherwise 2 * angle for x > 0 and pi - 2 * angle for x < 0.
 * 2. Each of these is base plus a multiple of angle, where base is 0, pi/2 or pi; PI_2_LO corrects the rounding of
 *    base. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_acos(vf32 x) {
    asin_parts parts = asin_reduce(x);
    vm32 is_below = vf32_lt(x, vf32_set(0));
    vf32 end = vf32_select(is_below, vf32_set(2 * PI_2_HI), vf32_set(0));
    vf32 base = vf32_select(parts.is_complement, end, vf32_set(PI_2_HI));
    vf32 angle = vf32_select(parts.is_complement, parts.angle + parts.angle, -parts.angle);
    angle = vf32_select(is_below, -angle, angle);
    return base + vf32_fma(base, vf32_set(PI_2_LO / PI_2_HI), angle);
}
