/* x - x is 0 for finite x, and NaN for infinity and NaN. */
#pragma once

#include "simd/simd.h"

INLINE vm32 op_isfinite_float16(vf32 x) { return vf32_eq(x - x, vf32_set(0)); }
INLINE vm32 op_isfinite_float32(vf32 x) { return vf32_eq(x - x, vf32_set(0)); }
INLINE vm64 op_isfinite_float64(vf64 x) { return vf64_eq(x - x, vf64_set(0)); }
