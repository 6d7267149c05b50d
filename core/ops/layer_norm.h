/* (x - mean) / sqrt(variance + eps), times weight, plus bias, where they are given. The variance is that of the
 * population; mean and variance are moments.h's. The mean is subtracted as two floats, because x - mean loses what one
 * float rounds off when the mean is large. parameters: eps. */
#ifndef LANEWISE_OPS_LAYER_NORM_H
#define LANEWISE_OPS_LAYER_NORM_H

#include "moments.h"
#include "rows.h"

static reduced layer_norm_moments(const row *r, int64_t first, int64_t blocks, float *packed) {
    reduced result, right;
    if (blocks > 1) {
        int64_t left = 1;
        while (left * 2 < blocks) left *= 2;
        result = layer_norm_moments(r, first, left, packed);
        right = layer_norm_moments(r, first + left, blocks - left, packed);
        int64_t end = min_int64((first + blocks) * FOLD_BLOCK, r->length);
        moments_joined(&result, left * FOLD_BLOCK, &right, end - (first + left) * FOLD_BLOCK);
        return result;
    }
    int64_t start = first * FOLD_BLOCK, count = min_int64(r->length - start, FOLD_BLOCK);
    moments_block((const char *)row_read(r->in[0], start, count, packed), start, count, &result);
    return result;
}

typedef struct layer_norm_scale {
    vf32 mean, mean_rest, factor;
} layer_norm_scale;

/* n <= lanes elements; weight and bias may be NULL. */
LANE vf32 layer_norm_lanes(const float *x, const float *weight, const float *bias, int n, layer_norm_scale s) {
    int whole = n == VF32_LANES;
    vf32 y = whole ? vf32_load(x) : vf32_load_partial(x, n, vf32_set(0));
    y = ((y - s.mean) - s.mean_rest) * s.factor;
    if (weight) y = y * (whole ? vf32_load(weight) : vf32_load_partial(weight, n, vf32_set(0)));
    if (bias) y = y + (whole ? vf32_load(bias) : vf32_load_partial(bias, n, vf32_set(0)));
    return y;
}

enum { LAYER_NORM_PIECE = FOLD_BLOCK / 4 };

static void layer_norm_row(const row *r) {
    float packed[FOLD_BLOCK];
    reduced total = layer_norm_moments(r, 0, divide_up(r->length, FOLD_BLOCK), packed);
    double mean = total.moments.mean, variance = total.moments.squares / (double)r->length;
    layer_norm_scale s = {.mean = vf32_set((float)mean), .mean_rest = vf32_set((float)(mean - (double)(float)mean))};
    s.factor = vf32_set((float)(1 / __builtin_sqrt(variance + r->parameters[0].f)));
    float *packed_weight = packed + LAYER_NORM_PIECE, *packed_bias = packed + 2 * LAYER_NORM_PIECE;
    for (int64_t start = 0; start < r->length; start += LAYER_NORM_PIECE) {
        int64_t count = min_int64(r->length - start, LAYER_NORM_PIECE), i = 0;
        const float *x = row_read(r->in[0], start, count, packed);
        const float *weight = r->in[1].data ? row_read(r->in[1], start, count, packed_weight) : NULL;
        const float *bias = r->in[2].data ? row_read(r->in[2], start, count, packed_bias) : NULL;
        float *result = row_result(r, start, packed);
        for (; i + VF32_LANES <= count; i += VF32_LANES)
            vf32_store(result + i,
                       layer_norm_lanes(x + i, weight ? weight + i : NULL, bias ? bias + i : NULL, VF32_LANES, s));
        if (i < count) {
            int n = (int)(count - i);
            vf32_store_partial(result + i,
                               layer_norm_lanes(x + i, weight ? weight + i : NULL, bias ? bias + i : NULL, n, s), n);
        }
        row_write(r, start, count, result);
    }
}

ROWS(layer_norm, 3)

#endif
