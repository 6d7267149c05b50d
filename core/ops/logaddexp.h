/* ln(e^x1 + e^x2) = max + log1p(e^-|x1 - x2|), which does not overflow. Error < 2^-22 times the larger of |max|
 * and 1. For equal operands the difference is set to 0, because inf - inf is NaN. NaN operands give NaN. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE vf32 op_logaddexp(vf32 x1, vf32 x2) {
    vf32 distance = vf32_select(vf32_eq(x1, x2), vf32_set(0), vf32_abs(x1 - x2));
    vf32 z =
        exp_is_normal(distance) ? exp_normal(-distance) : exp_with_denormals(-vf32_at_most(distance, vf32_set(120)));
    return vf32_maximum(x1, x2) + log_natural(log1p_split(z));
}
