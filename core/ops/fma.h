/* Rounded once on every instruction set. */
#ifndef LANEWISE_OPS_FMA_H
#define LANEWISE_OPS_FMA_H

#include "simd/simd.h"

LANE vf32 op_fma_float32(vf32 x1, vf32 x2, vf32 x3) { return vf32_fma_once(x1, x2, x3); }

#endif
