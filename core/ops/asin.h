/* asin s, or pi/2 - 2 asin s, with the sign of x. < 2.4 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_asin_float32(vf32 x) {
    arc found = arc_sin(x);
    vf32 rest = vf32_fma(found.angle, vf32_set(-2), vf32_set(HALF_PI_REST));
    vf32 size = vf32_select(found.is_complement, vf32_set(HALF_PI) + rest, found.angle);
    return vf32_copysign(size, x);
}
