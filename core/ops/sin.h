/* sin r, cos r, -sin r or -cos r, depending on the quadrant (math/trig.h), with the sign of x. Error < 1.6 ulp on all
 * floats. */
#pragma once

#include "math/trig.h"

INLINE vf32 op_sin(vf32 x) {
    trig_parts parts = trig_reduce(vf32_abs(x));
    vf32 size = vf32_select(trig_is_odd(parts), trig_cos_minimax(parts.r), trig_sin_minimax(parts.r));
    return trig_negate(size, vi32_xor(vi32_shift_left(parts.quadrant, 30), vf32_bits(x)));
}
