/* sin r / cos r, or -cos r / sin r in odd quadrants (math/trig.h), with the sign of x. Error < 3.6 ulp on all
 * floats. */
#pragma once

#include "math/trig.h"

INLINE vf32 op_tan(vf32 x) {
    trig_parts parts = trig_reduce(vf32_abs(x));
    vf32 sine = trig_sin_minimax(parts.r), cosine = trig_cos_minimax(parts.r);
    vm32 odd = trig_is_odd(parts);
    vf32 size = vf32_select(odd, cosine, sine) / vf32_select(odd, sine, cosine);
    return trig_negate(size, vi32_xor(vi32_shift_left(parts.quadrant, 31), vf32_bits(x)));
}
