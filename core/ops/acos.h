/* pi/2 - asin x up to 1/2; beyond, 2 asin s on the right and pi - 2 asin s on the left. As base + angle, what is missing
 * of the base being in proportion to it. < 1.2 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_acos_float32(vf32 x) {
    arc found = arc_sin(x);
    vm32 is_below = vf32_lt(x, vf32_set(0));
    vf32 end = vf32_select(is_below, vf32_set(2 * HALF_PI), vf32_set(0));
    vf32 base = vf32_select(found.is_complement, end, vf32_set(HALF_PI));
    vf32 angle = vf32_select(found.is_complement, found.angle + found.angle, -found.angle);
    angle = vf32_select(is_below, -angle, angle);
    return base + vf32_fma(base, vf32_set(HALF_PI_REST / HALF_PI), angle);
}
