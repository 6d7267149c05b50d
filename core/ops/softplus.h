/* ln(1 + e^x) = max(x, 0) + log1p(e^-|x|), where nothing overflows or cancels. Error < 1.8 ulp, denormal results
 * included. NaN stays NaN in the sum. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE vf32 op_softplus(vf32 x) {
    vf32 size = vf32_abs(x);
    vf32 z = exp_is_normal(x) ? exp_normal(-size) : exp_with_denormals(-vf32_at_most(size, vf32_set(120)));
    return vf32_at_least(x, vf32_set(0)) + log_natural(log1p_split(z));
}
