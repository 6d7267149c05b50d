/* Pooling: reduces each window to its maximum, sum or mean.
 *
 * A block is a rectangle of results: some columns, and many rows, which can belong to several channels and images.
 * Joining values means adding them, or taking their maximum.
 * 1. The rows of x that a row of windows covers are joined element by element into one row of a buffer. The length of a
 *    row of the buffer is a multiple of the stride, `step`.
 * 2. Result n joins the elements n * step + q * dilation of the buffer, for each column q of the window. The
 *    rows of the buffer are treated as one long row, so that short rows fill vectors as well as long ones. Results
 *    whose windows run past the end of their row are not copied to the output.
 * The order in which elements are joined depends only on the window. */
#pragma once

#include "window.h"

enum {
    /* Limits two widths, both in elements of a row of x: the distance from the first element of a block's first window
     * to that of its last window, and the part of a window that is processed at once. */
    POOL_SPAN = 256,
    POOL_BUFFER = 2048,
    POOL_RESULTS = 1024
};

typedef struct pool {
    const lw_window_layout *layout;
    const char *x;
    char *out;
    int sums;        /* 1 to compute sums, from which means follow; 0 to compute maxima */
    element divisor; /* divides every sum; if 0, a sum is divided by the number of its elements inside the image */
    element padding; /* value of padding elements */
    int64_t rows, per_task; /* rows of results: in total, per task */
    int64_t columns;        /* columns of results in a block */
    int64_t window;         /* columns of the window that are processed at once */
    int out_is_contiguous;
    /* 1 if no window has rows of padding, and the distance in x between the windows of two consecutive rows of results
     * is always the same number of bytes, even if the rows belong to different channels or images */
    int rows_are_even;
} pool;

/* The rows of x that the windows of one row of results cover. */
typedef struct pool_rows {
    const char *from;
    int64_t count, step; /* number of rows; bytes from one row to the next */
    int64_t width;       /* elements per row */
} pool_rows;

INLINE vec pool_join(int sums, vec a, vec b) { return sums ? a + b : v_maximum(a, b); }

/* Returns columns c .. c + n - 1, joined over all rows. Other lanes are 0. */
INLINE vec pool_column(const pool_rows *rows, int sums, const char *from, int64_t c, int n) {
    vec joined = v_load_partial((const element *)from + c, n, v_set(0));
    for (int64_t r = 1; r < rows->count; r++) {
        from += rows->step;
        joined = pool_join(sums, joined, v_load_partial((const element *)from + c, n, v_set(0)));
    }
    return joined;
}

/* For each of `results` rows of results, joins the rows of x that its windows cover into one row of `to`. From one row
 * of results to the next, the rows of x are `down` bytes further, and the row of `to` is `pitch` elements further. */
INLINE void pool_reduce_by(const pool_rows *rows, int sums, int64_t down, int64_t results, element *to, int64_t pitch) {
    pool_rows local = *rows; /* a local copy stays in registers, because stores to `to` cannot alias it */
    int tail = (int)(local.width % LANES);
    for (; results > 0; results--, local.from += down, to += pitch) {
        int64_t c = 0;
        for (; c + LANES <= local.width; c += LANES) {
            v_store(to + c, pool_column(&local, sums, local.from, c, LANES));
        }
        if (tail) {
            PATH_IF(LANES > 1, "pool: part of a vector of a row");
            v_store_partial(to + c, pool_column(&local, sums, local.from, c, tail), tail);
        }
    }
}

static void pool_reduce(const pool_rows *rows, int sums, int64_t down, int64_t results, element *to, int64_t pitch) {
    if (sums) { /* both calls have a compile-time constant for `sums` */
        pool_reduce_by(rows, 1, down, results, to, pitch);
    } else {
        pool_reduce_by(rows, 0, down, results, to, pitch);
    }
}

/* Like pool_reduce, for one row of results and rows of x whose elements are `stride` bytes apart. */
static void pool_reduce_sparse(const pool_rows *rows, int sums, int64_t stride, element *to) {
    element two[2][2 * POOL_SPAN]; /* two[0]: the rows joined so far; two[1]: the next row */
    pool_rows both = {(const char *)two, 2, sizeof two[0], rows->width};
    for (int64_t r = 0; r < rows->count; r++) {
        copy_strided_inline((char *)two[r > 0], sizeof(element), rows->from + r * rows->step, stride, rows->width,
                            ELEMENT_SIZE);
        if (r > 0) {
            pool_reduce(&both, sums, 0, 1, two[0], 0);
        }
    }
    copy_strided_inline((char *)to, sizeof(element), (const char *)two[0], sizeof(element), rows->width, ELEMENT_SIZE);
}

/* Loads from[0], from[step], from[2 * step] ... With steps of 1 and 2, reads whole vectors. */
INLINE vec pool_lanes(const element *from, int64_t step, int64_t count) {
    if (step == 1) {
        return v_load(from);
    }
    if (step == 2) {
        return v_even(v_load(from), v_load(from + LANES));
    }
    element lanes[LANES] = {0};
    for (int64_t c = 0; c < count && c < LANES; c++) {
        lanes[c] = from[c * step];
    }
    return v_load(lanes);
}

/* Step 2 above for `count` results: to[n] becomes the join of from[n * step + q * dilation] for all q < window and, if
 * `add`, of its previous value. */
INLINE void pool_columns(element *to, int sums, const element *from, int64_t step, int64_t dilation, int64_t window,
                         int64_t count, int add) {
    for (int64_t c = 0; c < count; c += LANES) {
        int n = (int)min_int64(count - c, LANES);
        vec joined = pool_lanes(from + c * step, step, n);
        for (int64_t q = 1; q < window; q++) {
            joined = pool_join(sums, joined, pool_lanes(from + c * step + q * dilation, step, n));
        }
        if (add) {
            PATH("pool: another part of the window");
            joined = pool_join(sums, v_load_partial(to + c, n, v_set(0)), joined);
        }
        if (n == LANES) {
            v_store(to + c, joined);
        } else {
            v_store_partial(to + c, joined, n);
        }
    }
}

/* Calls pool_columns with common steps as compile-time constants, for faster loops. */
static void pool_columns_by_step(element *to, int sums, const element *from, int64_t step, int64_t dilation,
                                 int64_t window, int64_t count, int add) {
    PATH_IF(step == 1, "pool: step 1");
    PATH_IF(step == 2, "pool: step 2");
    PATH_IF(step > 2, "pool: other steps");
    if (step == 1) {
        pool_columns(to, sums, from, 1, dilation, window, count, add);
    } else if (step == 2) {
        pool_columns(to, sums, from, 2, dilation, window, count, add);
    } else {
        pool_columns(to, sums, from, step, dilation, window, count, add);
    }
}

/* Divides sums to get means, for rows first .. first + rows - 1 and columns j .. j + columns - 1 of the results. */
static void pool_divide(const pool *s, int64_t first, int64_t rows, int64_t j, int64_t columns, element *to,
                        int64_t pitch) {
    const lw_window_layout *w = s->layout;
    element across[POOL_SPAN + LANES]; /* per column of results: number of its window's columns inside the image */
    if (s->divisor > 0) {              /* all sums have this divisor, so divide the rows as one long row */
        PATH("pool: one divisor");
        columns = rows * pitch;
        rows = 1;
    } else {
        for (int64_t c = 0; c < columns; c++) {
            int64_t left = (j + c) * w->stride[1] - w->padding[1];
            index_range inside = window_inside(left, w->dilation[1], w->kernel_size[1], w->in_size[1]);
            across[c] = (element)(inside.end - inside.begin);
        }
    }
    for (int64_t row = first; row < first + rows; row++, to += pitch) {
        int64_t top = row % w->out_size[0] * w->stride[0] - w->padding[0];
        index_range inside = window_inside(top, w->dilation[0], w->kernel_size[0], w->in_size[0]);
        vec divisor = v_set(s->divisor > 0 ? s->divisor : (element)(inside.end - inside.begin));
        int64_t c = 0;
        if (s->divisor > 0) {
            for (; c + LANES <= columns; c += LANES) {
                v_store(to + c, v_load(to + c) / divisor);
            }
        }
        for (; c < columns; c += LANES) {
            int n = (int)min_int64(columns - c, LANES);
            vec by = s->divisor > 0 ? divisor : divisor * v_load_partial(across + c, n, v_set(1));
            v_store_partial(to + c, v_load_partial(to + c, n, v_set(0)) / by, n);
        }
    }
}

/* Step 1 above for rows first .. first + count - 1 of the results: joins `width` columns of x, from `column` on. */
static void pool_gather(const pool *s, int64_t first, int64_t count, int64_t column, int64_t width, int64_t pitch,
                        element *to) {
    const lw_window_layout *w = s->layout;
    const int64_t *x = w->strides[0];
    index_range across = window_inside(column, 1, width, w->in_size[1]);
    pool_rows rows = {.step = w->dilation[0] * x[2], .width = across.end - across.begin};
    if (rows.width < pitch) {
        for (int64_t c = 0; c < count * pitch; c += LANES) {
            v_store(to + c, v_set(s->padding));
        }
    }
    PATH_IF(rows.width < pitch, "pool: padding in a row");
    PATH_IF(rows.width == 0, "pool: columns outside the image");
    if (rows.width == 0) {
        return;
    }
    int64_t height = w->kernel_size[0], reach = (height - 1) * w->dilation[0], together;
    int64_t i = first % w->out_size[0], channel = first / w->out_size[0];
    to += across.begin;
    for (int64_t done = 0; done < count; done += together, to += together * pitch) {
        int64_t top = i * w->stride[0] - w->padding[0];
        index_range down = window_inside(top, w->dilation[0], height, w->in_size[0]);
        rows.count = down.end - down.begin;
        rows.from = s->x + channel / w->out_channels * x[0] + channel % w->out_channels * x[1] +
                    (top + down.begin * w->dilation[0]) * x[2] + (column + across.begin) * x[3];
        together = 1; /* rows of results processed together; if several, none of their windows has rows of padding */
        if (rows.count == height && x[3] == sizeof(element)) {
            together += (w->in_size[0] - 1 - reach - top) / w->stride[0];
            together = s->rows_are_even ? count : min_int64(together, w->out_size[0] - i);
            together = min_int64(together, count - done);
        }
        PATH_IF(together > 1, "pool: several rows together");
        PATH_IF(rows.count > 0 && rows.count < height, "pool: rows of padding");
        PATH_IF(rows.count == 0, "pool: rows outside the image");
        PATH_IF(rows.count > 0 && x[3] != sizeof(element), "pool: strided rows");
        if (rows.count == 0) {
            for (int64_t c = 0; c < rows.width; c++) {
                to[c] = s->padding;
            }
        } else if (x[3] == sizeof(element)) {
            pool_reduce(&rows, s->sums, w->stride[0] * x[2], together, to, pitch);
        } else {
            pool_reduce_sparse(&rows, s->sums, x[3], to);
        }
        i += together;
        if (i >= w->out_size[0]) {
            i = 0;
            channel++;
        }
    }
}

/* Copies results to rows first .. first + rows - 1 and columns j .. j + columns - 1 of the output. */
static void pool_store(const pool *s, int64_t first, int64_t rows, int64_t j, int64_t columns, const element *from,
                       int64_t pitch) {
    const lw_window_layout *w = s->layout;
    const int64_t *out = w->strides[1];
    for (int64_t row = first; row < first + rows; row++, from += pitch) {
        int64_t i = row % w->out_size[0], channel = row / w->out_size[0] % w->out_channels;
        int64_t image = row / w->out_size[0] / w->out_channels;
        copy_strided(s->out + image * out[0] + channel * out[1] + i * out[2] + j * out[3], out[3], (const char *)from,
                     sizeof(element), columns, sizeof(element));
    }
}

static lw_status pool_task(lw_context *context, int64_t task, const void *argument) {
    const pool *s = argument;
    const lw_window_layout *w = s->layout;
    int64_t first = task * s->per_task, end = min_int64(first + s->per_task, s->rows), rows, dilation = w->dilation[1];
    element buffer[POOL_BUFFER + POOL_SPAN + 3 * LANES], results[POOL_RESULTS];
    for (int64_t j = 0; j < w->out_size[1]; j += s->columns) {
        int64_t columns = min_int64(w->out_size[1] - j, s->columns);
        int64_t width = (columns - 1) * w->stride[1] + (s->window - 1) * dilation + 1;
        int64_t step = columns == 1 ? width : w->stride[1]; /* one result per row: the whole row is one step */
        int64_t steps = divide_up(width, step), pitch = steps * step;
        int64_t max_rows = min_int64(POOL_BUFFER / pitch, POOL_RESULTS / steps);
        for (int64_t row = first; row < end; row += rows) {
            rows = min_int64(end - row, max_rows);
            PATH_IF(j > 0, "pool: another block of columns");
            PATH_IF(row > first, "pool: another block of rows");
            PATH_IF(columns == 1, "pool: one result per row");
            int in_place = s->out_is_contiguous && steps == w->out_size[1];
            PATH_EITHER(in_place, "pool: result in place", "pool: result copied");
            element *to = in_place ? (element *)s->out + row * steps : results;
            for (int64_t q = 0; q < w->kernel_size[1]; q += s->window) {
                int64_t window = min_int64(w->kernel_size[1] - q, s->window);
                int64_t column = j * w->stride[1] + q * dilation - w->padding[1];
                pool_gather(s, row, rows, column, width, pitch, buffer);
                if (s->sums) {
                    pool_columns_by_step(to, 1, buffer, step, dilation, window, rows * steps, q > 0);
                } else {
                    pool_columns_by_step(to, 0, buffer, step, dilation, window, rows * steps, q > 0);
                }
            }
            if (s->sums) {
                pool_divide(s, row, rows, j, columns, to, steps);
            }
            if (!in_place) {
                pool_store(s, row, rows, j, columns, results, steps);
            }
        }
    }
    return LW_OK;
}

static lw_status pool_run(lw_context *context, const pool *rule, const lw_window_layout *w, const void *x,
                          void *result) {
    const int64_t *out = w->strides[1];
    pool s = *rule;
    s.layout = w;
    s.x = x;
    s.out = result;
    s.rows = w->batch * w->out_channels * w->out_size[0];
    if (s.rows == 0 || w->out_size[1] == 0) {
        return LW_OK;
    }
    s.columns = min_int64(1 + (POOL_SPAN - 1) / w->stride[1], w->out_size[1]);
    s.window = min_int64(1 + (POOL_SPAN - 1) / w->dilation[1], w->kernel_size[1]);
    int64_t row = w->out_size[1] * (int64_t)sizeof(element);
    s.out_is_contiguous = out[3] == sizeof(element) && (out[2] == row || w->out_size[0] == 1) &&
                          (out[1] == row * w->out_size[0] || w->out_channels == 1) &&
                          (out[0] == row * w->out_size[0] * w->out_channels || w->batch == 1);
    int64_t plane = w->out_size[0] * w->stride[0] * w->strides[0][2];
    index_range inside = window_inside(-w->padding[0], w->stride[0], w->out_size[0],
                                       w->in_size[0] - (w->kernel_size[0] - 1) * w->dilation[0]);
    s.rows_are_even = inside.end - inside.begin == w->out_size[0] &&
                      (w->strides[0][1] == plane || w->out_channels == 1) &&
                      (w->strides[0][0] == plane * w->out_channels || w->batch == 1);
    PATH_IF(s.rows_are_even, "pool: evenly spaced rows");
    s.per_task = items_per_task(context, s.rows, 1);
    return run_tasks(context, divide_up(s.rows, s.per_task), pool_task, &s);
}
