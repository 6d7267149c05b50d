/* abs(INT32_MIN) is INT32_MIN. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_abs_float32(vf32 x) { return vf32_abs(x); }
INLINE vi32 op_abs_int32(vi32 x) { return vi32_abs(x); }
