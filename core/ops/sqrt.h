/* Correctly rounded. */
#ifndef LANEWISE_OPS_SQRT_H
#define LANEWISE_OPS_SQRT_H

#include "simd/simd.h"

LANE vf32 op_sqrt_float32(vf32 x) { return vf32_sqrt(x); }

#endif
