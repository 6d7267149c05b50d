/* x, or alpha * expm1(x) for x <= 0. Error < 1.7 ulp. For alpha = 1 the error is that of expm1 for x <= 0, which is
 * below 1 ulp, because multiplying by 1 does not round. */
#pragma once

#include "ops/expm1.h"

INLINE vec op_elu(vec x, vec alpha) { return v_select(v_gt(x, v_set(0)), x, alpha * op_expm1(v_at_most(x, v_set(0)))); }
