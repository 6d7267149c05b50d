#pragma once

#include "simd/simd.h"

LANE vf32 op_square_float32(vf32 x) { return x * x; }
LANE vi32 op_square_int32(vi32 x) { return x * x; }
