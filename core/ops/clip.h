/* If min > max, the result is max. If any operand is NaN, the result is NaN. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_clip_float32(vf32 x, vf32 min, vf32 max) { return vf32_minimum(vf32_maximum(x, min), max); }
INLINE vi32 op_clip_int32(vi32 x, vi32 min, vi32 max) { return vi32_min(vi32_max(x, min), max); }
