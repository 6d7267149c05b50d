/* (x - min) / (max - min). A division, so that the largest element becomes 1. Where the difference is beyond float32
 * all is halved first, which at that size is exact for all that counts. Of equals it is 0 / 0, NaN. */
#pragma once

#include "ops/max.h"
#include "ops/min.h"
#include "rows.h"

/* What to multiply by, then the smallest element and the range in that measure. */
INLINE vf32 minmax_scaled(const vf32 *x, const vf32 *numbers) { return (x[0] * numbers[0] - numbers[1]) / numbers[2]; }

static void minmax_row_float32(const row *r) {
    float min = row_reduce_float32(r, r->in[0], &min_reducer_float32);
    float max = row_reduce_float32(r, r->in[0], &max_reducer_float32);
    float measure = max - min < __builtin_inff() ? 1 : 0.5f;
    vf32 numbers[] = {vf32_set(measure), vf32_set(min * measure), vf32_set(max * measure - min * measure)};
    row_map(r, r->in, 1, NULL, numbers, minmax_scaled, 0);
}

ROWS(minmax, float32, 1)
