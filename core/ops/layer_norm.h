/* (x - mean) / sqrt(variance + eps), times weight, plus bias, where they are given. The variance is that of the
 * population; mean and variance are moments.h's. The mean is subtracted as two floats, because x - mean loses what one
 * float rounds off when the mean is large. Where squares are too large or too small for float32, x is first multiplied
 * by a power of two. parameters: eps. */
#pragma once

#include "moments.h"
#include "rows.h"

/* x, weight and bias; the mean, what rounding it lost, and what to multiply by. */
INLINE vf32 layer_norm_scaled(const vf32 *x, const vf32 *numbers) {
    return ((x[0] - numbers[0]) - numbers[1]) * numbers[2] * x[1] + x[2];
}

INLINE vf32 layer_norm_measured(const vf32 *x, const vf32 *measure) { return x[0] * measure[0]; }

/* What to multiply x by so that its squares are float32's. NaN among them comes of sums beyond float32, too. */
static float layer_norm_measure(double squares, double eps) {
    if (!(squares < __builtin_inf())) {
        return 0x1p-100f;
    }
    return eps == 0 && squares < 0x1p-100 ? 0x1p100f : 1;
}

static const reducer layer_norm_moments = {.size = sizeof(float), .block = moments_block_once, .join = moments_join};

RARE void layer_norm_again(const row *r, double eps, float measure);

/* In one place, so that the compiler makes one loop of each function that it is given. */
static void layer_norm_of(const row *r, double eps, int is_measured) {
    reduced total = row_reduce(r, r->in[0], &layer_norm_moments);
    float measure = layer_norm_measure(total.moments.squares, eps);
    if (measure != 1 && !is_measured) {
        layer_norm_again(r, eps, measure);
        return;
    }
    double mean = total.moments.mean, length = (double)r->length;
    float factor = (float)__builtin_sqrt(length / (total.moments.squares + length * eps)); /* one division, not two */
    vf32 numbers[] = {vf32_set((float)mean), vf32_set((float)(mean - (double)(float)mean)), vf32_set(factor)};
    static const float absent[] = {0, 1, -0.0f}; /* multiplied by and added, they change nothing */
    row_map(r, r->in, 3, absent, numbers, layer_norm_scaled, 0);
}

/* The same of x times `measure`, which is written where the result comes. */
RARE void layer_norm_again(const row *r, double eps, float measure) {
    row measured = *r;
    vf32 number = vf32_set(measure);
    row_map(r, r->in, 1, NULL, &number, layer_norm_measured, 0);
    measured.in[0] = r->out;
    layer_norm_of(&measured, eps * (double)measure * (double)measure, 1);
}

static void layer_norm_row_float32(const row *r) { layer_norm_of(r, r->parameters[0].f, 0); }

ROWS(layer_norm, float32, 3)
