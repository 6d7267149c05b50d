#pragma once

#include "simd/simd.h"

INLINE vm32 op_isnan_float16(vf32 x) { return vf32_isnan(x); }
INLINE vm32 op_isnan_float32(vf32 x) { return vf32_isnan(x); }
INLINE vm64 op_isnan_float64(vf64 x) { return vf64_isnan(x); }
