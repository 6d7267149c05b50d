/* Whether x is zero. NaN is nonzero. */
#pragma once

#include "simd/simd.h"

INLINE vm32 op_logical_not_bool(vm32 x) { return vm32_not(x); }
INLINE vm32 op_logical_not_int32(vi32 x) { return vi32_eq(x, vi32_set(0)); }
INLINE vm32 op_logical_not_float32(vf32 x) { return vf32_eq(x, vf32_set(0)); }
