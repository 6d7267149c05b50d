/* cos r, -sin r, -cos r or sin r, depending on the quadrant (math/trig.h). Error < 1.6 ulp on all floats. */
#pragma once

#include "math/trig.h"

INLINE vf32 op_cos(vf32 x) {
    trig_parts parts = trig_reduce(vf32_abs(x));
    vf32 size = vf32_select(trig_is_odd(parts), trig_sin_minimax(parts.r), trig_cos_minimax(parts.r));
    return trig_negate(size, vi32_shift_left(parts.quadrant + vi32_set(1), 30));
}
