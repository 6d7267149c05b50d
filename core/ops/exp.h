/* Beyond the bounds the result has reached 0 and infinity. < 1.1 ulp, denormal results too. */
#pragma once

#include "math/exp.h"

INLINE vf32 op_exp_float32(vf32 x) {
    if (!SIMD_SCALE && __builtin_expect(exp_is_normal(x), 1)) {
        return exp_normal(x);
    }
    return exp_any(vf32_at_most(vf32_at_least(x, vf32_set(-104)), vf32_set(89)));
}
