/* (x - mean) / sqrt(variance + eps), times weight, plus bias, where they are given. The variance is that of the
 * population; mean and variance are moments.h's. The mean is subtracted as two floats, because x - mean loses what one
 * float rounds off when the mean is large. Where squares are too large or too small for float32, x is first multiplied
 * by a power of two. parameters: eps. */
#ifndef LANEWISE_OPS_LAYER_NORM_H
#define LANEWISE_OPS_LAYER_NORM_H

#include "ops/var.h"
#include "rows.h"

/* x, weight and bias; the mean, what rounding it lost, and what to multiply by. */
LANE vf32 layer_norm_scaled(const vf32 *x, const vf32 *numbers) {
    return ((x[0] - numbers[0]) - numbers[1]) * numbers[2] * x[1] + x[2];
}

LANE vf32 layer_norm_measured(const vf32 *x, const vf32 *measure) { return x[0] * measure[0]; }

/* What to multiply x by so that its squares are float32's. NaN among them comes of sums beyond float32, too. */
static float layer_norm_measure(double squares, double eps) {
    if (!(squares < __builtin_inf())) return 0x1p-100f;
    return eps == 0 && squares < 0x1p-100 ? 0x1p100f : 1;
}

static void layer_norm_row_float32(const row *r) {
    row_operand operands[] = {r->in[0], r->in[1], r->in[2]};
    reduced total = row_fold(r, r->in[0], &var_reducer_float32);
    double eps = r->parameters[0].f;
    float measure = layer_norm_measure(total.moments.squares, eps);
    if (measure != 1) { /* then x is the result's memory */
        vf32 number = vf32_set(measure);
        row_map(r, r->in, 1, NULL, &number, layer_norm_measured, 0);
        operands[0] = r->out;
        total = row_fold(r, r->out, &var_reducer_float32);
        eps *= (double)measure * (double)measure;
    }
    double mean = total.moments.mean, variance = total.moments.squares / (double)r->length;
    float factor = (float)(1 / __builtin_sqrt(variance + eps));
    vf32 numbers[] = {vf32_set((float)mean), vf32_set((float)(mean - (double)(float)mean)), vf32_set(factor)};
    static const float absent[] = {0, 1, -0.0f}; /* multiplied by and added, they change nothing */
    row_map(r, operands, 3, absent, numbers, layer_norm_scaled, 0);
}

ROWS(layer_norm, float32, 3)

#endif
