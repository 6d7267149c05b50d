/* SELU_SCALE * x, or SELU_SCALE * alpha * expm1(x) for x <= 0. Error < 2 ulp. Source: Klambauer et al.,
 * "Self-normalizing neural networks", 2017. */
#pragma once

#include "ops/expm1.h"

#define SELU_SCALE 1.0507009873554805f
#define SELU_SCALE_ALPHA 1.7580993408473766f /* alpha = 1.6732632423543772 */

INLINE vf32 op_selu(vf32 x) {
    vf32 below = vf32_set(SELU_SCALE_ALPHA) * op_expm1(vf32_at_most(x, vf32_set(0)));
    return vf32_select(vf32_gt(x, vf32_set(0)), vf32_set(SELU_SCALE) * x, below);
}
