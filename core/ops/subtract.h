/* int32 wraps. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_subtract_float32(vf32 x1, vf32 x2) { return x1 - x2; }
INLINE vi32 op_subtract_int32(vi32 x1, vi32 x2) { return x1 - x2; }
