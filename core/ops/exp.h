/* exp x (math/exp.h). Error < 1.1 ulp on all floats, denormal results included. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_exp_float32(vf32 x) {
    if (!SIMD_SCALE && __builtin_expect(exp_is_normal(x), 1)) {
        return exp_normal(x);
    }
    return exp_with_denormals(vf32_at_most(vf32_at_least(x, vf32_set(EXP_UNDERFLOW)), vf32_set(EXP_OVERFLOW)));
}
