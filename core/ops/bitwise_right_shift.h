#pragma once

#include "simd/simd.h"

INLINE vi32 op_bitwise_right_shift_int32(vi32 x1, vi32 x2) { return vi32_shift_right_each(x1, x2); }
