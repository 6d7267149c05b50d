/* The square root, correctly rounded. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_sqrt_float32(vf32 x) { return vf32_sqrt(x); }
