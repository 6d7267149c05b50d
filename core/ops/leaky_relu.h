/* x, or slope * x for x <= 0. NaN > 0 is false, so NaN is multiplied by slope and stays NaN. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_leaky_relu_float32(vf32 x, vf32 slope) { return vf32_select(vf32_gt(x, vf32_set(0)), x, slope * x); }
