/* x1 + weight * (x2 - x1) or, for weight >= 1/2, x2 - (1 - weight) * (x2 - x1), so that weights 0 and 1 give x1 and x2
 * exactly unless x2 - x1 overflows. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_lerp_float32(vf32 x1, vf32 x2, vf32 weight) {
    const vf32 one = vf32_set(1);
    vf32 difference = x2 - x1;
    return vf32_select(vf32_lt(weight, vf32_set(0.5f)), x1 + weight * difference, x2 - (one - weight) * difference);
}
