/* ln(e^x1 + e^x2) = max + log1p(e^-|x1 - x2|), which does not overflow. Error < 2^-22 (float64: 2^-51) times the larger
 * of |max| and 1. For equal operands the difference is set to 0, because inf - inf is NaN. NaN operands give NaN. */
#pragma once

#include "math/exp.h"
#include "math/log.h"

INLINE vec op_logaddexp(vec x1, vec x2) {
    vec distance = v_select(v_eq(x1, x2), v_set(0), v_abs(x1 - x2));
    vec z = exp_is_normal(distance) ? exp_normal(-distance)
                                    : exp_with_denormals(-v_at_most(distance, v_set(EXP_REDUCED_BOUND)));
    return v_maximum(x1, x2) + log_natural(log1p_split(z));
}
