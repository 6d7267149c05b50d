#pragma once

#include "simd/simd.h"

INLINE vf32 op_trunc_float32(vf32 x) { return vf32_trunc(x); }
INLINE vi32 op_trunc_int32(vi32 x) { return x; }
