#pragma once

#include "simd/simd.h"

INLINE vf32 op_floor_float32(vf32 x) { return vf32_floor(x); }
INLINE vi32 op_floor_int32(vi32 x) { return x; }
