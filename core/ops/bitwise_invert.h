#pragma once

#include "simd/simd.h"

INLINE vm32 op_bitwise_invert_bool(vm32 x) { return vm32_not(x); }
INLINE vi32 op_bitwise_invert_int32(vi32 x) { return vi32_not(x); }
