#pragma once

#include "simd/simd.h"

INLINE vi32 op_bitwise_left_shift_int32(vi32 x1, vi32 x2) { return vi32_shift_left_each(x1, x2); }
