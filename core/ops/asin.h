/* asin x = angle, or pi/2 - 2 * angle for |x| > 1/2, with the sign of x. asin_reduce(x) computes the angle.
 * Error < 2.4 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vec op_asin(vec x) {
    asin_parts parts = asin_reduce(x);
    vec low = v_fma(parts.angle, v_set(-2), v_set(PI_2_LO));
    vec size = v_select(parts.is_complement, v_set(PI_2_HI) + low, parts.angle);
    return v_copysign(size, x);
}
