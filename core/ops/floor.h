#ifndef LANEWISE_OPS_FLOOR_H
#define LANEWISE_OPS_FLOOR_H

#include "simd/simd.h"

LANE vf32 op_floor_float32(vf32 x) { return vf32_floor(x); }
LANE vi32 op_floor_int32(vi32 x) { return x; }

#endif
