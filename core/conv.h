/* Convolution. Two ways:
 *
 * as matrix multiplication, where an image's patches are a matrix that exists only as the packed panels of B. Row
 * (c, p, q) of B, column (i, j): x at channel c, and where result (i, j) meets the window's (p, q). A is the weight;
 * C, a row for each output channel, the result;
 *
 * in strips, by the definition, for groups with few output channels, which a micro-kernel's rows would not fill, and
 * for layouts whose strides a matrix cannot have. The padding is multiplied like any zeros, so that inf there gives NaN
 * both ways. */
#ifndef LANEWISE_CONV_H
#define LANEWISE_CONV_H

#include "gemm.c"
#include "window.h"

enum { CONV_FEW_CHANNELS = 4 };

typedef struct conv {
    const lw_window_layout *layout;
    gemm product;     /* of the first image's first group */
    int64_t x_group;  /* bytes from a group of channels of x to the next */
    int64_t per_task; /* products */
    int64_t products; /* images x groups */
} conv;

/* What pack_b needs to know of one product. */
typedef struct conv_image {
    const lw_window_layout *layout;
    const char *x;
} conv_image;

static void conv_pack(const gemm *g, int64_t first_row, int64_t depth, int64_t first_column, float *to) {
    const conv_image *image = g->source;
    const lw_window_layout *w = image->layout;
    int64_t columns = min_int64(g->n - first_column, GEMM_COLUMNS), height = w->kernel_size[0];
    for (int64_t row = first_row; row < first_row + depth; row++, to += GEMM_COLUMNS) {
        int64_t q = row % w->kernel_size[1], p = row / w->kernel_size[1] % height;
        const char *channel = image->x + row / w->kernel_size[1] / height * w->strides[0][1];
        int64_t i = first_column / w->out_size[1], j = first_column % w->out_size[1];
        for (int64_t done = 0; done < columns; i++, j = 0) {
            int64_t count = min_int64(w->out_size[1] - j, columns - done);
            window_gather(w, window_row(w, channel, i, p), j, q, count, 0, to + done);
            done += count;
        }
        for (int64_t c = columns; c < GEMM_COLUMNS; c++) to[c] = 0;
    }
}

static lw_status conv_task(lw_context *context, int64_t task, const void *argument) {
    const conv *all = argument;
    const lw_window_layout *w = all->layout;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->products);
    for (int64_t i = first; i < end; i++) {
        int64_t image = i / w->groups, group = i % w->groups;
        gemm g = all->product;
        conv_image source = {w, (const char *)g.source + image * w->strides[0][0] + group * all->x_group};
        g.source = &source;
        g.a += group * g.m * g.a_row;
        if (g.bias) g.bias += group * g.m * g.bias_row;
        g.c += image * w->strides[3][0] + group * g.m * g.c_row;
        lw_status status = gemm_run(context, &g);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

static void conv_strip(const strips *s, int64_t image, int64_t channel, int64_t i, int64_t j, int64_t count,
                       float *result) {
    const lw_window_layout *w = s->layout;
    int64_t channels = w->in_channels / w->groups, group = channel / (w->out_channels / w->groups);
    const char *x = s->x + image * w->strides[0][0] + group * channels * w->strides[0][1];
    const char *weight = s->weight + channel * w->strides[1][0];
    float bias = s->bias ? gemm_float(s->bias + channel * w->strides[2][0]) : 0, buffer[WINDOW_STRIP];
    int64_t width = window_width(count);
    for (int64_t v = 0; v < width; v += VF32_LANES) vf32_store(result + v, vf32_set(0));
    for (int64_t c = 0; c < channels; c++)
        for (int64_t p = 0; p < w->kernel_size[0]; p++)
            for (int64_t q = 0; q < w->kernel_size[1]; q++) {
                const int64_t *step = w->strides[1];
                vf32 factor = vf32_set(gemm_float(weight + c * step[1] + p * step[2] + q * step[3]));
                const float *tap = window_tap(w, x + c * w->strides[0][1], i, j, p, q, count, 0, buffer);
                for (int64_t v = 0; v < width; v += VF32_LANES)
                    vf32_store(result + v, vf32_fma(factor, vf32_load(tap + v), vf32_load(result + v)));
            }
    if (s->bias)
        for (int64_t v = 0; v < width; v += VF32_LANES) vf32_store(result + v, vf32_load(result + v) + vf32_set(bias));
}

static lw_status conv_run(lw_context *context, const lw_window_layout *w, const void *const *inputs,
                          void *const *outputs) {
    const int64_t *weight = w->strides[1], *out = w->strides[3];
    int64_t channels = w->in_channels / w->groups, taps = channels * w->kernel_size[0] * w->kernel_size[1];
    conv all = {.layout = w, .x_group = channels * w->strides[0][1], .products = w->batch * w->groups};
    all.product = (gemm){
        .m = w->out_channels / w->groups,
        .n = w->out_size[0] * w->out_size[1],
        .k = taps,
        .a = inputs[1],
        .bias = inputs[2],
        .c = outputs[0],
        .a_row = weight[0],
        .a_column = weight[3],
        .bias_row = w->strides[2][0],
        .c_row = out[1],
        .c_column = out[3],
        .pack_b = conv_pack,
        .source = inputs[0],
    };
    int weight_is_matrix = (weight[2] == w->kernel_size[1] * weight[3] || w->kernel_size[0] == 1) &&
                           (weight[1] == w->kernel_size[0] * w->kernel_size[1] * weight[3] || channels == 1);
    int out_is_matrix = out[2] == w->out_size[1] * out[3] || w->out_size[0] == 1;
    if (all.product.m < CONV_FEW_CHANNELS || !weight_is_matrix || !out_is_matrix) {
        strips s = {.layout = w,
                    .x = inputs[0],
                    .weight = inputs[1],
                    .bias = inputs[2],
                    .out = outputs[0],
                    .out_strides = out,
                    .function = conv_strip};
        return run_strips(context, &s, taps);
    }
    double work = gemm_work(&all.product);
    all.per_task = work >= GEMM_SMALL ? all.products : 1 + (int64_t)(GEMM_SMALL / (work + 1));
    return run_tasks(context, divide_up(all.products, all.per_task), conv_task, &all);
}

#endif
