#pragma once

#include "simd/simd.h"

INLINE vf32 op_copysign_float32(vf32 x1, vf32 x2) { return vf32_copysign(x1, x2); }
