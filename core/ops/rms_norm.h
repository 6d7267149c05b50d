/* x / sqrt(mean of squares + eps) * weight; weight is optional. The squares are summed as in norm_l2.h, so large
 * elements do not overflow. parameters: eps. */
#pragma once

#include "ops/norm_l2.h"
#include "reduce/rows.h"

/* x[0] is the element and x[1] the weight. */
INLINE vf32 rms_norm_scaled(const vf32 *x, const vf32 *factor) { return x[0] * factor[0] * x[1]; }

ROW_MAP(rms_norm_map, 2, 1, rms_norm_scaled, 0)

static void rms_norm_row(const row *r) {
    reduced total = row_reduce(r, r->in[0], &norm_l2_reducer);
    double length = (double)r->length;
    vf32 factor = vf32_set((float)__builtin_sqrt(length / (total.sum + length * r->parameters[0].f)));
    static const float absent[] = {0, 1};
    rms_norm_map(r, r->in, absent, &factor);
}

ROWS(rms_norm, 2)
