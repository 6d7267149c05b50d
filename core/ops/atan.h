/* atan_minimax(|x|), or pi/2 - atan_minimax(1/|x|) for |x| > 1, with the sign of x. Error < 1.7 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vec op_atan(vec x) {
    const vec one = v_set(1);
    vec size = v_abs(x);
    vmask steep = v_gt(size, one);
    vec angle = atan_minimax(v_select(steep, one, size) / v_select(steep, size, one));
    vec complement = v_set(PI_2_HI) + (v_set(PI_2_LO) - angle);
    return v_copysign(v_select(steep, complement, angle), x);
}
