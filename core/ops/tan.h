/* sin r / cos r, or -cos r / sin r in odd quadrants (math/trig.h), with the sign of x. Error < 3.6 ulp on all
 * floats. */
#pragma once

#include "math/trig.h"

INLINE vec op_tan(vec x) {
    trig_parts parts = trig_reduce(v_abs(x));
    vec sine = trig_sin_minimax(parts.r), cosine = trig_cos_minimax(parts.r);
    vmask odd = trig_is_odd(parts);
    vec size = v_select(odd, cosine, sine) / v_select(odd, sine, cosine);
    return trig_negate(size, b_xor(b_shift_left(parts.quadrant, 8 * ELEMENT_SIZE - 1), v_bits(x)));
}
