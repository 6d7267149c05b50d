/* Exact; infinity less itself is NaN. */
#ifndef LANEWISE_OPS_FRAC_H
#define LANEWISE_OPS_FRAC_H

#include "simd/simd.h"

LANE vf32 op_frac_float32(vf32 x) { return x - vf32_trunc(x); }

#endif
