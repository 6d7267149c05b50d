/* x1 * x2 + x3, rounded only once, also on instruction sets without FMA. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_fma_float32(vf32 x1, vf32 x2, vf32 x3) { return vf32_fma_strict(x1, x2, x3); }
