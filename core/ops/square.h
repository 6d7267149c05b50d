#pragma once

#include "simd/simd.h"

INLINE vf32 op_square_float32(vf32 x) { return x * x; }
INLINE vi32 op_square_int32(vi32 x) { return x * x; }
