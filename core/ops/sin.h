/* sin r, cos r, -sin r or -cos r, depending on the quadrant (math/trig.h), with the sign of x. Error < 1.6 ulp on all
 * floats. */
#pragma once

#include "math/trig.h"

INLINE vec op_sin(vec x) {
    trig_parts parts = trig_reduce(v_abs(x));
    vec size = v_select(trig_is_odd(parts), trig_cos_minimax(parts.r), trig_sin_minimax(parts.r));
    return trig_negate(size, b_xor(b_shift_left(parts.quadrant, 8 * ELEMENT_SIZE - 2), v_bits(x)));
}
