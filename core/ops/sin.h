/* With n: sin r, cos r, -sin r, -cos r; odd, so the sign is x's. < 1.6 ulp, over the whole range. */
#pragma once

#include "math/trig.h"

INLINE vf32 op_sin_float32(vf32 x) {
    quarter_turns turns = trig_reduce(vf32_abs(x));
    vf32 size = vf32_select(trig_is_odd(turns), trig_cos_near(turns.rest), trig_sin_near(turns.rest));
    return trig_negate(size, vi32_xor(vi32_shift_left(turns.count, 30), vf32_bits(x)));
}
