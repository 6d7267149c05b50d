/* (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias are optional.
 * 1. Compute the mean and the population variance (moments.h).
 * 2. If squares are too large for float32, or too small while eps is 0, multiply x by a power of two and start again.
 * 3. Subtract the mean as the sum of two floats: with one float, x - mean would contain the rounding error of a large
 *    mean.
 * parameters: eps. */
#pragma once

#include "reduce/moments.h"
#include "reduce/rows.h"

/* x[0] is the element, x[1] the weight and x[2] the bias. `numbers` holds the mean, its rounding error, and
 * 1 / sqrt(variance + eps). */
INLINE vf32 layer_norm_scaled(const vf32 *x, const vf32 *numbers) {
    return ((x[0] - numbers[0]) - numbers[1]) * numbers[2] * x[1] + x[2];
}

INLINE vf32 layer_norm_rescaled(const vf32 *x, const vf32 *scale) { return x[0] * scale[0]; }

ROW_MAP(layer_norm_map, 3, 3, layer_norm_scaled, 0)
ROW_MAP(layer_norm_map_rescaled, 1, 1, layer_norm_rescaled, 0)

/* The power of two that brings the squares of x into the range of float32; 1 if they are in range. An overflow
 * makes `squares` infinite or NaN. */
static float layer_norm_scale(double squares, double eps) {
    if (!(squares < __builtin_inf())) {
        return 0x1p-100f;
    }
    return eps == 0 && squares < 0x1p-100 ? 0x1p100f : 1;
}

static const reducer layer_norm_moments = {.size = sizeof(float), .block = moments_block_once, .join = moments_join};

RARE void layer_norm_rescale(const row *r, double eps, float scale);

/* Original and rescaled rows share this function, so that the inlined layer_norm_map below is compiled only once. */
static void layer_norm_apply(const row *r, double eps, int is_rescaled) {
    reduced total = row_reduce(r, r->in[0], &layer_norm_moments);
    float scale = layer_norm_scale(total.squares.squares, eps);
    if (scale != 1 && !is_rescaled) {
        PATH("layer_norm: rescaled");
        layer_norm_rescale(r, eps, scale);
        return;
    }
    double mean = total.squares.mean, length = (double)r->length;
    /* 1 / sqrt(squares / length + eps), with one division less */
    float factor = (float)__builtin_sqrt(length / (total.squares.squares + length * eps));
    vf32 numbers[] = {vf32_set((float)mean), vf32_set((float)(mean - (double)(float)mean)), vf32_set(factor)};
    static const float absent[] = {0, 1, -0.0f}; /* an absent weight is 1, an absent bias -0: both change nothing */
    layer_norm_map(r, r->in, absent, numbers);
}

/* Writes x * scale to the result, and normalizes it there. */
RARE void layer_norm_rescale(const row *r, double eps, float scale) {
    row rescaled = *r;
    vf32 number = vf32_set(scale);
    layer_norm_map_rescaled(r, r->in, NULL, &number);
    rescaled.in[0] = r->out;
    layer_norm_apply(&rescaled, eps * (double)scale * (double)scale, 1);
}

static void layer_norm_row(const row *r) { layer_norm_apply(r, r->parameters[0].f, 0); }

ROWS(layer_norm, 3)
