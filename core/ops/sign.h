#pragma once

#include "simd/simd.h"

INLINE vf32 op_sign_float32(vf32 x) {
    const vf32 zero = vf32_set(0);
    vf32 one_sided = vf32_select(vf32_gt(x, zero), vf32_set(1), zero);
    vf32 sign = vf32_select(vf32_lt(x, zero), vf32_set(-1), one_sided);
    return vf32_select(vf32_isnan(x), x, sign);
}

INLINE vi32 op_sign_int32(vi32 x) {
    const vi32 zero = vi32_set(0);
    return vm32_to_vi32(vi32_gt(x, zero)) - vm32_to_vi32(vi32_lt(x, zero));
}
