/* max + log1p(e^-|x1 - x2|): nothing overflows. Equal infinities are 0 apart, although their difference is NaN; the sum
 * is NaN where one of them is. < 2 ulp of the larger of max and 1. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE vf32 op_logaddexp_float32(vf32 x1, vf32 x2) {
    vf32 apart = vf32_select(vf32_eq(x1, x2), vf32_set(0), vf32_abs(x1 - x2));
    vf32 z = exp_is_normal(apart) ? exp_normal(-apart) : exp_any(-vf32_at_most(apart, vf32_set(120)));
    return vf32_maximum(x1, x2) + log_natural(log1p_split(z));
}
