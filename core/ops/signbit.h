#pragma once

#include "simd/simd.h"

INLINE vm32 op_signbit_float32(vf32 x) { return vi32_lt(vf32_bits(x), vi32_set(0)); }
