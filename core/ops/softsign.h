/* x / (1 + |x|), rounded twice; error < 1.5 ulp. |x| is clamped to 2^25, so that infinity is not divided by itself.
 * This is exact, because the quotient of larger |x| rounds to 1. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_softsign_float32(vf32 x) {
    vf32 magnitude = vf32_at_most(vf32_abs(x), vf32_set(0x1p25f));
    return vf32_copysign(magnitude, x) / (vf32_set(1) + magnitude);
}
