/* (x - mean) / sqrt(variance + eps), times weight, plus bias, where they are given. The variance is that of the
 * population; mean and variance are moments.h's. The mean is subtracted as two floats, because x - mean loses what one
 * float rounds off when the mean is large. parameters: eps. */
#ifndef LANEWISE_OPS_LAYER_NORM_H
#define LANEWISE_OPS_LAYER_NORM_H

#include "ops/var.h"
#include "rows.h"

/* x, weight and bias; the mean, what rounding it lost, and what to multiply by. */
LANE vf32 layer_norm_scaled(const vf32 *x, const vf32 *numbers) {
    return ((x[0] - numbers[0]) - numbers[1]) * numbers[2] * x[1] + x[2];
}

static void layer_norm_row_float32(const row *r) {
    reduced total = row_fold(r, r->in[0], &var_reducer_float32);
    double mean = total.moments.mean, variance = total.moments.squares / (double)r->length;
    float factor = (float)(1 / __builtin_sqrt(variance + r->parameters[0].f));
    vf32 numbers[] = {vf32_set((float)mean), vf32_set((float)(mean - (double)(float)mean)), vf32_set(factor)};
    static const float absent[] = {0, 1, -0.0f}; /* multiplied by and added, they change nothing */
    row_map(r, r->in, 3, absent, numbers, layer_norm_scaled, 0);
}

ROWS(layer_norm, float32, 3)

#endif
