/* Exact in 64 bits, then rounded once. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_difference(vi32 x1, vi32 x2) { return wi64_to_vf32(vi32_to_wi64(x1) - vi32_to_wi64(x2)); }
