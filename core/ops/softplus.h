/* ln(1 + e^x) = max(x, 0) + log1p(e^-|x|), where nothing overflows or cancels. Error < 1.8 ulp, denormal results
 * included. NaN stays NaN in the sum. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE vec op_softplus(vec x) {
    vec size = v_abs(x);
    vec z = exp_is_normal(x) ? exp_normal(-size) : exp_with_denormals(-v_at_most(size, v_set(EXP_REDUCED_BOUND)));
    return v_at_least(x, v_set(0)) + log_natural(log1p_split(z));
}
