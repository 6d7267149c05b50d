/* The operation minimum of IEEE 754-2019 for float32: NaN if an operand is NaN, and -0 is below +0. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_minimum_float32(vf32 x1, vf32 x2) { return vf32_minimum(x1, x2); }
INLINE vi32 op_minimum_int32(vi32 x1, vi32 x2) { return vi32_min(x1, x2); }
INLINE vm32 op_minimum_bool(vm32 x1, vm32 x2) { return vm32_and(x1, x2); }
