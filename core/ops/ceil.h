#pragma once

#include "simd/simd.h"

INLINE vf32 op_ceil_float32(vf32 x) { return vf32_ceil(x); }
INLINE vi32 op_ceil_int32(vi32 x) { return x; }
