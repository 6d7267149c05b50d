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

INLINE void minmax_rows(const row *r, int beside) {
    row_numbers min, max, numbers[3];
    row_reduce_elements(r, beside, r->in[0], &min_reducer, min);
    row_reduce_elements(r, beside, r->in[0], &max_reducer, max);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        element scale = max[i] - min[i] < __builtin_inff() ? 1 : (element)0.5;
        numbers[0][i] = scale;
        numbers[1][i] = min[i] * scale;
        numbers[2][i] = max[i] * scale - min[i] * scale;
    }
    minmax_map(r, beside, r->in, NULL, numbers, NULL);
}

ROWS(minmax, 1)
