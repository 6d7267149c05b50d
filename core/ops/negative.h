/* -INT32_MIN is INT32_MIN. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_negative_float32(vf32 x) { return -x; }
INLINE vi32 op_negative_int32(vi32 x) { return -x; }
