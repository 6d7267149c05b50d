/* (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias are optional.
 * 1. Compute the mean and the population variance (moments.h).
 * 2. If squares are too large for an element, or too small while eps is 0, multiply x by a power of two and start
 *    again.
 * 3. Subtract the mean as the sum of two floats: with one float32, x - mean would contain the rounding error of a large
 *    mean. In float64, the second is 0.
 * parameters: eps. */
#pragma once

#include "reduce/moments.h"
#include "reduce/rows.h"

/* x[0] is the element, x[1] the weight and x[2] the bias. `numbers` holds the mean, its rounding error, and
 * 1 / sqrt(variance + eps). */
INLINE vec layer_norm_scaled(const vec *x, const vec *numbers) {
    return ((x[0] - numbers[0]) - numbers[1]) * numbers[2] * x[1] + x[2];
}

INLINE vec layer_norm_rescaled(const vec *x, const vec *scale) { return x[0] * scale[0]; }

ROW_MAP(layer_norm_map, 3, 3, layer_norm_scaled, 0)
ROW_MAP(layer_norm_map_rescaled, 1, 1, layer_norm_rescaled, 0)

/* The power of two that brings the squares of x into the range of elements; 1 if they are in range. An overflow
 * makes `squares` infinite or NaN. */
static element layer_norm_scale(double squares, double eps) {
    if (!(squares < __builtin_inf())) {
        return (element)(1 / SQUARES_SCALE_UP);
    }
    return eps == 0 && squares < SQUARES_SMALL ? (element)SQUARES_SCALE_UP : 1;
}

static const reducer layer_norm_moments = {
    .size = ELEMENT_SIZE, .block = moments_block_once, .columns = moments_columns_once, .join = moments_join};

static void layer_norm_row(const row *r);
RARE void layer_norm_rescale(const row *r, double eps, element scale);

INLINE void layer_norm_apply(const row *r, int beside, double eps, int is_rescaled) {
    reduced totals[ROW_BESIDE];
    row_numbers numbers[3];
    row_reduce(r, beside, r->in[0], &layer_norm_moments, totals);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        double mean = totals[i].squares.mean, squares = totals[i].squares.squares, length = (double)r->length;
        element scale = layer_norm_scale(squares, eps);
        if (scale != 1 && !is_rescaled) {
            PATH_EITHER(beside, "layer_norm: rescaled side by side", "layer_norm: rescaled");
            if (beside) {
                row_each(r, layer_norm_row);
            } else {
                layer_norm_rescale(r, eps, scale);
            }
            return;
        }
        numbers[0][i] = (element)mean;
        numbers[1][i] = (element)(mean - (double)(element)mean);
        /* 1 / sqrt(squares / length + eps), with one division less */
        numbers[2][i] = (element)__builtin_sqrt(length / (squares + length * eps));
    }
    static const element absent[] = {0, 1, -(element)0}; /* an absent weight is 1, an absent bias -0 */
    layer_norm_map(r, beside, r->in, absent, numbers, NULL);
}

/* Original and rescaled rows share this function, so that the inlined layer_norm_map is compiled only once. */
static void layer_norm_one(const row *r, double eps, int is_rescaled) { layer_norm_apply(r, 0, eps, is_rescaled); }

/* Writes x * scale to the result, and normalizes it there. */
RARE void layer_norm_rescale(const row *r, double eps, element scale) {
    row rescaled = *r;
    row_numbers number = {scale};
    layer_norm_map_rescaled(r, 0, r->in, NULL, &number, NULL);
    rescaled.in[0] = r->out;
    layer_norm_one(&rescaled, eps * (double)scale * (double)scale, 1);
}

static void layer_norm_row(const row *r) { layer_norm_one(r, r->parameters[0].f, 0); }
static void layer_norm_beside(const row *r) { layer_norm_apply(r, 1, r->parameters[0].f, 0); }

ROWS_BY(layer_norm, 3)
