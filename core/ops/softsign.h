/* x / (1 + |x|), rounded twice; error < 1.5 ulp. |x| is clamped to 2^25 (float64: 2^54), so that infinity is not
 * divided by itself. This is exact, because the quotient of larger |x| rounds to 1. */
#pragma once

#include "element.h"

INLINE vec op_softsign(vec x) {
    vec magnitude = v_at_most(v_abs(x), v_set(BY_PRECISION(0x1p25f, 0x1p54)));
    return v_copysign(magnitude, x) / (v_set(1) + magnitude);
}
