/* NaN <= 0 is false, so NaN stays; -0 <= 0 is true, so -0 becomes +0. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_relu_float32(vf32 x) { return vf32_select(vf32_le(x, vf32_set(0)), vf32_set(0), x); }
INLINE vi32 op_relu_int32(vi32 x) { return vi32_max(x, vi32_set(0)); }
