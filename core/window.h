/* Windows over images: what convolution and pooling share.
 *
 * Results are computed in strips, at most WINDOW_STRIP neighbours along a row of the result. For each element of the
 * window, a tap, window_tap finds the elements of x that it meets there: in place where they are contiguous and
 * inside, else gathered into a buffer, with `outside` where they are in the padding.
 *
 * core/ops/conv2d.h and max_pool2d.h define their kernels with run_strips or through conv.h; kernels.c includes them
 * and names the kernels in the table. */
#ifndef LANEWISE_WINDOW_H
#define LANEWISE_WINDOW_H

#include "strided.h"
#include "walk.h"

enum {
    WINDOW_STRIP = 64,
    WINDOW_GRAIN = 1 << 16 /* multiplications or comparisons worth a task */
};

LANE int64_t window_width(int64_t count) { return divide_up(count, VF32_LANES) * VF32_LANES; } /* whole registers */

/* x at the columns that `count` results from column j on meet with the window's column q. `row` is x's row, or NULL
 * where that is in the padding. */
static void window_gather(const lw_window_layout *w, const char *row, int64_t j, int64_t q, int64_t count,
                          float outside, float *to) {
    int64_t step = w->stride[1], first = j * step + q * w->dilation[1] - w->padding[1];
    int64_t begin = first < 0 ? divide_up(-first, step) : 0;
    int64_t end = row && first < w->in_size[1] ? divide_up(w->in_size[1] - first, step) : 0;
    if (end > count) end = count;
    if (begin > end) begin = end;
    for (int64_t i = 0; i < begin; i++) to[i] = outside;
    for (int64_t i = end; i < count; i++) to[i] = outside;
    if (begin == end) return;
    int64_t stride = w->strides[0][3];
    const char *from = row + (first + begin * step) * stride;
    if (step * stride == sizeof(float))
        copy_strided_32((char *)(to + begin), sizeof(float), from, sizeof(float), end - begin);
    else
        copy_strided_32((char *)(to + begin), sizeof(float), from, step * stride, end - begin);
}

/* The row of x, channel by channel, that row i of the result meets with the window's row p; NULL in the padding. */
LANE const char *window_row(const lw_window_layout *w, const char *channel, int64_t i, int64_t p) {
    int64_t at = i * w->stride[0] + p * w->dilation[0] - w->padding[0];
    return at < 0 || at >= w->in_size[0] ? NULL : channel + at * w->strides[0][2];
}

/* Readable to the end of the last register. */
static const float *window_tap(const lw_window_layout *w, const char *channel, int64_t i, int64_t j, int64_t p,
                               int64_t q, int64_t count, float outside, float *buffer) {
    const char *row = window_row(w, channel, i, p);
    int64_t first = j + q * w->dilation[1] - w->padding[1];
    int in_place = row && w->stride[1] == 1 && w->strides[0][3] == sizeof(float) && first >= 0 &&
                   first + window_width(count) <= w->in_size[1];
    if (in_place) return (const float *)row + first;
    window_gather(w, row, j, q, count, outside, buffer);
    for (int64_t c = count; c < window_width(count); c++) buffer[c] = outside;
    return buffer;
}

typedef struct strips strips;

/* Computes `count` results from (i, j) on of one channel of one image into `result`, whole registers. */
typedef void strip_function(const strips *s, int64_t image, int64_t channel, int64_t i, int64_t j, int64_t count,
                            float *result);

struct strips {
    const lw_window_layout *layout;
    const char *x, *weight, *bias; /* the last two may be NULL */
    char *out;
    const int64_t *out_strides;
    strip_function *function;
    int64_t rows, per_task; /* of results */
};

static lw_status strips_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const strips *s = argument;
    const lw_window_layout *w = s->layout;
    int64_t first = task * s->per_task, end = min_int64(first + s->per_task, s->rows);
    for (int64_t row = first; row < end; row++) {
        int64_t i = row % w->out_size[0], channel = row / w->out_size[0] % w->out_channels;
        int64_t image = row / w->out_size[0] / w->out_channels;
        char *out = s->out + image * s->out_strides[0] + channel * s->out_strides[1] + i * s->out_strides[2];
        for (int64_t j = 0; j < w->out_size[1]; j += WINDOW_STRIP) {
            float result[WINDOW_STRIP];
            int64_t count = min_int64(w->out_size[1] - j, WINDOW_STRIP);
            s->function(s, image, channel, i, j, count, result);
            copy_strided(out + j * s->out_strides[3], s->out_strides[3], (const char *)result, sizeof(float), count,
                         sizeof(float));
        }
    }
    return LW_OK;
}

/* `work`: operations for one result. */
static lw_status run_strips(lw_context *context, strips *s, int64_t work) {
    const lw_window_layout *w = s->layout;
    s->rows = w->batch * w->out_channels * w->out_size[0];
    if (s->rows == 0 || w->out_size[1] == 0) return LW_OK;
    s->per_task = divide_up(WINDOW_GRAIN, (work + 1) * w->out_size[1]);
    return run_tasks(context, divide_up(s->rows, s->per_task), strips_task, s);
}

#endif
