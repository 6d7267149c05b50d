/* 1 / x, correctly rounded, unlike the processor's reciprocal instructions. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_reciprocal_float32(vf32 x) { return vf32_set(1) / x; }
