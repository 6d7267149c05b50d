/* 1 / sqrt(x); root and quotient are both correctly rounded. Error < 1.5 ulp. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_rsqrt_float32(vf32 x) { return vf32_set(1) / vf32_sqrt(x); }
