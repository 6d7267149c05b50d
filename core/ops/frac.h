/* x - trunc(x), which is exact. The fraction of infinity is inf - inf, which is NaN. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_frac_float32(vf32 x) { return x - vf32_trunc(x); }
