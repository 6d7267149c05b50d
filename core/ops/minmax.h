/* (x - min) / (max - min). Divides instead of multiplying by the reciprocal, so that the largest element becomes
 * exactly 1. If max - min overflows, all elements are halved first, which is exact for all but negligible elements. If
 * all elements are equal, the result is 0/0, NaN. */
#pragma once

#include "ops/max.h"
#include "ops/min.h"
#include "reduce/rows.h"

/* `numbers` holds the scale, which is 1 or 1/2, then the smallest element and max - min, both scaled. */
INLINE vec minmax_scaled(const vec *x, const vec *numbers) { return (x[0] * numbers[0] - numbers[1]) / numbers[2]; }

ROW_MAP(minmax_map, 1, 3, minmax_scaled, 0)

static void minmax_row(const row *r) {
    element min = row_reduce_element(r, r->in[0], &min_reducer);
    element max = row_reduce_element(r, r->in[0], &max_reducer);
    element scale = max - min < __builtin_inff() ? 1 : (element)0.5;
    vec numbers[] = {v_set(scale), v_set(min * scale), v_set(max * scale - min * scale)};
    minmax_map(r, r->in, NULL, numbers);
}

ROWS(minmax, 1)
