/* acos x from the angle that asin_reduce(x) computes; error < 1.2 ulp.
 * 1. |x| <= 1/2: pi/2 - asin x. Otherwise 2 * angle for x > 0 and pi - 2 * angle for x < 0.
 * 2. Each of these is base plus a multiple of angle, where base is 0, pi/2 or pi; PI_2_LO corrects the rounding of
 *    base. */
#pragma once

#include "math/inverse_trig.h"

INLINE vec op_acos(vec x) {
    asin_parts parts = asin_reduce(x);
    vmask is_below = v_lt(x, v_set(0));
    vec end = v_select(is_below, v_set(2 * PI_2_HI), v_set(0));
    vec base = v_select(parts.is_complement, end, v_set(PI_2_HI));
    vec angle = v_select(parts.is_complement, parts.angle + parts.angle, -parts.angle);
    angle = v_select(is_below, -angle, angle);
    return base + v_fma(base, v_set(PI_2_LO / PI_2_HI), angle);
}
