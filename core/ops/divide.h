/* The quotient, correctly rounded. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_divide_float32(vf32 x1, vf32 x2) { return x1 / x2; }
