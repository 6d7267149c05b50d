/* The largest element in each window. The padding is -inf, which never wins; NaN wins.
 *
 * A block is a rectangle of results: some columns, and many rows, which may be of several channels and images. First
 * the rows of x that each row of windows meets become one row, of their largest elements; these rows lie one behind the
 * other in a buffer, each a whole number of steps long. Then result n is the largest of the elements n * step + q,
 * through all rows alike: short rows fill registers as well as long ones. */
#ifndef LANEWISE_OPS_MAX_POOL2D_H
#define LANEWISE_OPS_MAX_POOL2D_H

#include "window.h"

enum {
    POOL_SPAN = 256, /* elements of a row of x that the windows' first elements span, and a window's part */
    POOL_BUFFER = 2048,
    POOL_RESULTS = 1024
};

typedef struct max_pool {
    const lw_window_layout *layout;
    const char *x;
    char *out;
    int64_t rows, per_task; /* of results */
    int64_t columns;        /* of results, in a block */
    int64_t window;         /* columns of the window that are treated at once */
    int out_is_contiguous;
    int rows_are_even; /* through channels and images, and inside: a step on in the result is always one down in x */
} max_pool;

/* Rows of x that the windows of a row of results meet. */
typedef struct max_pool_rows {
    const char *from;
    int64_t count, step; /* rows, and bytes from one to the next */
    int64_t width;       /* elements of each */
} max_pool_rows;

/* The largest of n elements from column c on of all rows; other lanes are 0. */
LANE vf32 max_pool_column(const max_pool_rows *rows, const char *from, int64_t c, int n) {
    vf32 most = vf32_load_partial((const float *)from + c, n, vf32_set(0));
    for (int64_t r = 1; r < rows->count; r++) {
        from += rows->step;
        most = vf32_maximum(most, vf32_load_partial((const float *)from + c, n, vf32_set(0)));
    }
    return most;
}

/* For `results` rows of results: to = the largest of each column. It goes on by `pitch` elements, the rows by `down`
 * bytes. */
static void max_pool_reduce(const max_pool_rows *rows, int64_t down, int64_t results, float *to, int64_t pitch) {
    max_pool_rows same = *rows; /* no store into `to` can change it */
    int tail = (int)(same.width % VF32_LANES);
    for (; results > 0; results--, same.from += down, to += pitch) {
        int64_t c = 0;
        for (; c + VF32_LANES <= same.width; c += VF32_LANES)
            vf32_store(to + c, max_pool_column(&same, same.from, c, VF32_LANES));
        if (tail) vf32_store_partial(to + c, max_pool_column(&same, same.from, c, tail), tail);
    }
}

/* The same for one row of results, where the elements of a row are `stride` bytes apart. */
static void max_pool_reduce_sparse(const max_pool_rows *rows, int64_t stride, float *to) {
    float two[2][2 * POOL_SPAN]; /* the largest so far, and a row */
    max_pool_rows both = {(const char *)two, 2, sizeof two[0], rows->width};
    for (int64_t r = 0; r < rows->count; r++) {
        copy_strided_32((char *)two[r > 0], sizeof(float), rows->from + r * rows->step, stride, rows->width);
        if (r > 0) max_pool_reduce(&both, 0, 1, two[0], 0);
    }
    copy_strided_32((char *)to, sizeof(float), (const char *)two[0], sizeof(float), rows->width);
}

/* from[0], from[step], from[2 step] ...; all lanes of the first two kinds are readable. */
LANE vf32 max_pool_lanes(const float *from, int64_t step, int64_t count) {
    if (step == 1) return vf32_load(from);
    vf32 first, second;
    float lanes[VF32_LANES];
    if (step == 2) {
        first = vf32_load(from), second = vf32_load(from + VF32_LANES);
#if VF32_LANES == 16
        return __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif VF32_LANES == 8
        return __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
#elif VF32_LANES == 4
        return __builtin_shufflevector(first, second, 0, 2, 4, 6);
#else
        (void)second;
        return first;
#endif
    }
    first = vf32_set(0);
    __builtin_memcpy(lanes, &first, sizeof lanes);
    for (int64_t c = 0; c < count && c < VF32_LANES; c++) lanes[c] = from[c * step];
    __builtin_memcpy(&first, lanes, sizeof lanes);
    return first;
}

/* Result n = the largest of the elements n * step + q * dilation for the window's `window` columns, and of what is in
 * `to` already if `add`. */
LANE void max_pool_columns(float *to, const float *from, int64_t step, int64_t dilation, int64_t window, int64_t count,
                           int add) {
    for (int64_t c = 0; c < count; c += VF32_LANES) {
        int n = (int)min_int64(count - c, VF32_LANES);
        vf32 most = max_pool_lanes(from + c * step, step, n);
        for (int64_t q = 1; q < window; q++)
            most = vf32_maximum(most, max_pool_lanes(from + c * step + q * dilation, step, n));
        if (add) most = vf32_maximum(vf32_load_partial(to + c, n, vf32_set(0)), most);
        if (n == VF32_LANES)
            vf32_store(to + c, most);
        else
            vf32_store_partial(to + c, most, n);
    }
}

/* Rows of the largest elements, for rows first .. first + count - 1 of the results, from column `column` of x on. */
static void max_pool_gather(const max_pool *s, int64_t first, int64_t count, int64_t column, int64_t width,
                            int64_t pitch, float *to) {
    const lw_window_layout *w = s->layout;
    const int64_t *x = w->strides[0];
    window_range across = window_inside(column, 1, width, w->in_size[1]);
    max_pool_rows rows = {.step = w->dilation[0] * x[2], .width = across.end - across.begin};
    if (rows.width < pitch)
        for (int64_t c = 0; c < count * pitch; c += VF32_LANES) vf32_store(to + c, vf32_set(-__builtin_inff()));
    if (rows.width == 0) return;
    int64_t height = w->kernel_size[0], reach = (height - 1) * w->dilation[0], alike;
    int64_t i = first % w->out_size[0], channel = first / w->out_size[0];
    to += across.begin;
    for (int64_t done = 0; done < count; done += alike, to += alike * pitch) {
        int64_t top = i * w->stride[0] - w->padding[0];
        window_range down = window_inside(top, w->dilation[0], height, w->in_size[0]);
        rows.count = down.end - down.begin;
        rows.from = s->x + channel / w->out_channels * x[0] + channel % w->out_channels * x[1] +
                    (top + down.begin * w->dilation[0]) * x[2] + (column + across.begin) * x[3];
        alike = 1; /* rows of results, where all of a window is inside */
        if (rows.count == height && x[3] == sizeof(float)) {
            alike += (w->in_size[0] - 1 - reach - top) / w->stride[0];
            alike = s->rows_are_even ? count : min_int64(alike, w->out_size[0] - i);
            alike = min_int64(alike, count - done);
        }
        if (rows.count == 0)
            for (int64_t c = 0; c < rows.width; c++) to[c] = -__builtin_inff();
        else if (x[3] == sizeof(float))
            max_pool_reduce(&rows, w->stride[0] * x[2], alike, to, pitch);
        else
            max_pool_reduce_sparse(&rows, x[3], to);
        i += alike;
        if (i < w->out_size[0]) continue;
        i = 0;
        channel++;
    }
}

/* Results (first .. first + rows - 1, j .. j + columns - 1), `pitch` apart from row to row. */
static void max_pool_put(const max_pool *s, int64_t first, int64_t rows, int64_t j, int64_t columns, const float *from,
                         int64_t pitch) {
    const lw_window_layout *w = s->layout;
    const int64_t *out = w->strides[1];
    for (int64_t row = first; row < first + rows; row++, from += pitch) {
        int64_t i = row % w->out_size[0], channel = row / w->out_size[0] % w->out_channels;
        int64_t image = row / w->out_size[0] / w->out_channels;
        copy_strided(s->out + image * out[0] + channel * out[1] + i * out[2] + j * out[3], out[3], (const char *)from,
                     sizeof(float), columns, sizeof(float));
    }
}

static lw_status max_pool_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const max_pool *s = argument;
    const lw_window_layout *w = s->layout;
    int64_t first = task * s->per_task, end = min_int64(first + s->per_task, s->rows), rows, dilation = w->dilation[1];
    float buffer[POOL_BUFFER + POOL_SPAN + 3 * VF32_LANES], results[POOL_RESULTS];
    for (int64_t j = 0; j < w->out_size[1]; j += s->columns) {
        int64_t columns = min_int64(w->out_size[1] - j, s->columns);
        int64_t width = (columns - 1) * w->stride[1] + (s->window - 1) * dilation + 1;
        int64_t step = columns == 1 ? width : w->stride[1]; /* one result in a row may be any step from the next */
        int64_t steps = divide_up(width, step), pitch = steps * step;
        int64_t most = min_int64(POOL_BUFFER / pitch, POOL_RESULTS / steps);
        for (int64_t row = first; row < end; row += rows) {
            rows = min_int64(end - row, most);
            int in_place = s->out_is_contiguous && steps == w->out_size[1];
            float *to = in_place ? (float *)s->out + row * steps : results;
            for (int64_t q = 0; q < w->kernel_size[1]; q += s->window) {
                int64_t window = min_int64(w->kernel_size[1] - q, s->window);
                int64_t column = j * w->stride[1] + q * dilation - w->padding[1];
                max_pool_gather(s, row, rows, column, width, pitch, buffer);
                if (step == 2) /* the steps being constants, this becomes vectors */
                    max_pool_columns(to, buffer, 2, dilation, window, rows * steps, q > 0);
                else if (step == 1)
                    max_pool_columns(to, buffer, 1, dilation, window, rows * steps, q > 0);
                else
                    max_pool_columns(to, buffer, step, dilation, window, rows * steps, q > 0);
            }
            if (!in_place) max_pool_put(s, row, rows, j, columns, results, steps);
        }
    }
    return LW_OK;
}

static lw_status lw_max_pool2d_float32(lw_context *context, const void *layout, const void *const *inputs,
                                       void *const *outputs, const lw_scalar *parameters) {
    (void)parameters;
    const lw_window_layout *w = layout;
    const int64_t *out = w->strides[1];
    max_pool s = {.layout = w, .x = inputs[0], .out = outputs[0]};
    s.rows = w->batch * w->out_channels * w->out_size[0];
    if (s.rows == 0 || w->out_size[1] == 0) return LW_OK;
    s.columns = min_int64(1 + (POOL_SPAN - 1) / w->stride[1], w->out_size[1]);
    s.window = min_int64(1 + (POOL_SPAN - 1) / w->dilation[1], w->kernel_size[1]);
    int64_t row = w->out_size[1] * (int64_t)sizeof(float);
    s.out_is_contiguous = out[3] == sizeof(float) && (out[2] == row || w->out_size[0] == 1) &&
                          (out[1] == row * w->out_size[0] || w->out_channels == 1) &&
                          (out[0] == row * w->out_size[0] * w->out_channels || w->batch == 1);
    int64_t plane = w->out_size[0] * w->stride[0] * w->strides[0][2];
    window_range inside = window_inside(-w->padding[0], w->stride[0], w->out_size[0],
                                        w->in_size[0] - (w->kernel_size[0] - 1) * w->dilation[0]);
    s.rows_are_even = inside.end - inside.begin == w->out_size[0] &&
                      (w->strides[0][1] == plane || w->out_channels == 1) &&
                      (w->strides[0][0] == plane * w->out_channels || w->batch == 1);
    s.per_task = divide_up(WINDOW_GRAIN, (w->kernel_size[0] * w->kernel_size[1] + 1) * w->out_size[1]);
    return run_tasks(context, divide_up(s.rows, s.per_task), max_pool_task, &s);
}

#endif
