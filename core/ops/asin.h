/* asin x = angle, or pi/2 - 2 * angle for |x| > 1/2, with the sign of x. asin_reduce(x) computes the angle.
 * Error < 2.4 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_asin(vf32 x) {
    asin_parts parts = asin_reduce(x);
    vf32 low = vf32_fma(parts.angle, vf32_set(-2), vf32_set(PI_2_LO));
    vf32 size = vf32_select(parts.is_complement, vf32_set(PI_2_HI) + low, parts.angle);
    return vf32_copysign(size, x);
}
