#pragma once

#include "simd/simd.h"

INLINE vm32 op_bitwise_and_bool(vm32 x1, vm32 x2) { return vm32_and(x1, x2); }
INLINE vi32 op_bitwise_and_int32(vi32 x1, vi32 x2) { return vi32_and(x1, x2); }
