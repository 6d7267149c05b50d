#pragma once

#include "simd/simd.h"

LANE vf32 op_round_float32(vf32 x) { return vf32_round(x); }
LANE vi32 op_round_int32(vi32 x) { return x; }
