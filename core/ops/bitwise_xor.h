#pragma once

#include "simd/simd.h"

INLINE vm32 op_bitwise_xor_bool(vm32 x1, vm32 x2) { return vm32_xor(x1, x2); }
INLINE vi32 op_bitwise_xor_int32(vi32 x1, vi32 x2) { return vi32_xor(x1, x2); }
