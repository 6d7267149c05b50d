/* SELU_SCALE * x, or SELU_SCALE * alpha * expm1(x) for x <= 0. Error < 2 ulp. Source: Klambauer et al.,
 * "Self-normalizing neural networks", 2017. */
#pragma once

#include "ops/expm1.h"

#define SELU_SCALE 1.0507009873554805
#define SELU_SCALE_ALPHA 1.7580993408473766 /* alpha = 1.6732632423543772; both rounded first */

INLINE vec op_selu(vec x) {
    vec below = v_set((element)SELU_SCALE_ALPHA) * op_expm1(v_at_most(x, v_set(0)));
    return v_select(v_gt(x, v_set(0)), v_set((element)SELU_SCALE) * x, below);
}
