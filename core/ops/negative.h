/* The lowest int32 stays itself. */
#pragma once

#include "simd/simd.h"

LANE vf32 op_negative_float32(vf32 x) { return -x; }
LANE vi32 op_negative_int32(vi32 x) { return -x; }
