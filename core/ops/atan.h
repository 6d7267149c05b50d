/* atan_minimax(|x|), or pi/2 - atan_minimax(1/|x|) for |x| > 1, with the sign of x. Error < 1.7 ulp. */
#pragma once

#include "math/inverse_trig.h"

INLINE vf32 op_atan(vf32 x) {
    const vf32 one = vf32_set(1);
    vf32 size = vf32_abs(x);
    vm32 steep = vf32_gt(size, one);
    vf32 angle = atan_minimax(vf32_select(steep, one, size) / vf32_select(steep, size, one));
    vf32 complement = vf32_set(PI_2_HI) + (vf32_set(PI_2_LO) - angle);
    return vf32_copysign(vf32_select(steep, complement, angle), x);
}
