/* From 2^25 on 1 + |x| rounds to |x| and the quotient is 1; the bound keeps infinity from dividing itself. Two
 * roundings: < 1.5 ulp. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_softsign_float32(vf32 x) {
    vf32 magnitude = vf32_at_most(vf32_abs(x), vf32_set(0x1p25f));
    return vf32_copysign(magnitude, x) / (vf32_set(1) + magnitude);
}
