#pragma once

#include "simd/simd.h"

INLINE vf32 op_round_float32(vf32 x) { return vf32_round(x); }
INLINE vi32 op_round_int32(vi32 x) { return x; }
