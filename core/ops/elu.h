/* x, or alpha * expm1(x) for x <= 0. Error < 1.7 ulp. For alpha = 1 the error is that of expm1 for x <= 0, which is
 * below 1 ulp, because multiplying by 1 does not round. */
#pragma once

#include "ops/expm1.h"

INLINE vf32 op_elu(vf32 x, vf32 alpha) {
    return vf32_select(vf32_gt(x, vf32_set(0)), x, alpha * op_expm1(vf32_at_most(x, vf32_set(0))));
}
