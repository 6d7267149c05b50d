/* Correctly rounded. */
#pragma once

#include "simd/simd.h"

LANE vf32 op_sqrt_float32(vf32 x) { return vf32_sqrt(x); }
