/* < 2 ulp. */
#pragma once

#include "ops/expm1.h"

INLINE vf32 op_selu_float32(vf32 x) {
    vf32 below = vf32_set(1.7580993408473766f) * op_expm1_float32(vf32_at_most(x, vf32_set(0)));
    return vf32_select(vf32_gt(x, vf32_set(0)), vf32_set(1.0507009873554805f) * x, below);
}
