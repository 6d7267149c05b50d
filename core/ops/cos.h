/* cos r, -sin r, -cos r or sin r, depending on the quadrant (math/trig.h). Error < 1.6 ulp on all floats. */
#pragma once

#include "math/trig.h"

INLINE vec op_cos(vec x) {
    trig_parts parts = trig_reduce(v_abs(x));
    vec size = v_select(trig_is_odd(parts), trig_sin_minimax(parts.r), trig_cos_minimax(parts.r));
    return trig_negate(size, b_shift_left(parts.quadrant + b_set(1), 8 * ELEMENT_SIZE - 2));
}
