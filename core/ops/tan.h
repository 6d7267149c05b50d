/* sin r / cos r, and -cos r / sin r where n is odd; the sign is x's. < 3.6 ulp, over the whole range. */
#pragma once

#include "math/trig.h"

INLINE vf32 op_tan_float32(vf32 x) {
    quarter_turns turns = trig_reduce(vf32_abs(x));
    vf32 sine = trig_sin_near(turns.rest), cosine = trig_cos_near(turns.rest);
    vm32 odd = trig_is_odd(turns);
    vf32 size = vf32_select(odd, cosine, sine) / vf32_select(odd, sine, cosine);
    return trig_negate(size, vi32_xor(vi32_shift_left(turns.count, 31), vf32_bits(x)));
}
