/* Windows over images: which elements of x the windows of many results cover.
 *
 * A strip is a range of consecutive results of one channel, across rows and images, so that vectors are full even if
 * the images are small. A tap is one element of the window. For each tap, this file computes which elements of x the
 * tap reads for the results of a strip: runs of equally spaced elements, and a mask that hides padding. Neither depends
 * on the channel, so both are computed once for all channels. A run continues into the next row of results if its
 * elements are still equally spaced there. With stride 1 and results of the size of the image, the whole strip is one
 * run, and the mask hides the padding in it. */
#pragma once

#include "element.h"
#include "layout/layout_iterator.h"
#include "layout/strided.h"

enum { WINDOW_STRIP = 64 };

INLINE int64_t window_steps(int64_t distance, int64_t step) { return step == 1 ? distance : divide_up(distance, step); }

/* Returns which of the `count` numbers first, first + step ... are in 0 .. size - 1, as a range of their indices. */
INLINE index_range window_inside(int64_t first, int64_t step, int64_t count, int64_t size) {
    int64_t begin = first < 0 ? window_steps(-first, step) : 0, end = count;
    if (first + (count - 1) * step >= size) {
        end = first < size ? window_steps(size - first, step) : 0;
    }
    return (index_range){min_int64(begin, end), end};
}

/* A run: consecutive results of one image for which a tap reads equally spaced elements of x. `image` is the byte
 * offset of that image in x. `from` is the byte offset of the first element that the tap reads. In a window_strip, it
 * is relative to the start of the channel in that image; in a window_tap, to the start of the channel in image 0. */
typedef struct window_run {
    int64_t image, from;
    int64_t to, count; /* index of the run's first result in the strip; number of results */
} window_run;

typedef struct window_strip {
    const lw_window_layout *layout;
    int64_t count, step;     /* number of results; bytes from one element of a run to the next */
    int64_t lowest, highest; /* lowest and highest byte offset of an element of a channel */
    int64_t runs;            /* number of runs in `run`: those of the window's first tap, padding included */
    window_run run[WINDOW_STRIP];
    int64_t first_row, first_column;                      /* row and column of the first result */
    element_bits row[WINDOW_STRIP], column[WINDOW_STRIP]; /* row and column of each result, mapped by window_place() */
} window_strip;

typedef struct window_tap {
    const window_strip *strip;
    int64_t down; /* byte offset of the tap's row from the window's first row */
    int64_t runs;
    int64_t covered; /* number of results in all runs */
    window_run run[WINDOW_STRIP];
    element_bits rows_inside[WINDOW_STRIP]; /* mask of the results for which the tap's row is in the image */
    /* Mask of the results for which the tap's row and column are in the image, with room to load a vector at any of
     * them. */
    element_bits inside[WINDOW_STRIP + LANES];
} window_tap;

/* Maps the index of a row or column of results to an int32, so that vectors of them can be compared with the mapped
 * limits of a range. `first` is the row or column of the strip's first result. A strip's indices are in first to first
 * + WINDOW_STRIP - 1 or, where a new row or image begins, in 0 to WINDOW_STRIP - 1. The former become index - first,
 * the latter index - min(first, 2^30). Limits outside both ranges are clamped, which changes no comparison with the
 * strip's indices. */
INLINE int32_t window_place(int64_t index, int64_t first) {
    int64_t near_zero = min_int64(index, WINDOW_STRIP) - (1 << 30), near_first = min_int64(index - first, 1 << 30);
    return (int32_t)(near_first > near_zero ? near_first : near_zero);
}

/* Initializes a strip of `count` results. `first` is the index of its first result among those of a channel in all
 * images. */
static void window_strip_start(window_strip *s, const lw_window_layout *w, int64_t first, int64_t count) {
    const int64_t *x = w->strides[0];
    int64_t area = w->out_size[0] * w->out_size[1], image = first / area;
    int64_t i = first % area / w->out_size[1], j = first % w->out_size[1];
    s->layout = w;
    s->count = count;
    s->step = w->stride[1] * x[3];
    s->lowest = s->highest = s->runs = 0;
    for (int d = 0; d < 2; d++) {
        int64_t reach = (w->in_size[d] - 1) * x[2 + d];
        s->lowest += reach < 0 ? reach : 0;
        s->highest += reach < 0 ? 0 : reach;
    }
    if (w->in_size[0] == 0 || w->in_size[1] == 0) {
        s->highest = s->lowest - 1;
    }
    s->first_row = i;
    s->first_column = j;
    int64_t next = 0; /* the value of `from` that continues the last run */
    for (int64_t done = 0; done < count;) {
        int64_t part = min_int64(w->out_size[1] - j, count - done);
        int64_t row = i * w->stride[0] - w->padding[0], column = j * w->stride[1] - w->padding[1];
        int64_t from = row * x[2] + column * x[3];
        if (s->runs && i > 0 && from == next) {
            PATH("window: a run continues in the next row");
            s->run[s->runs - 1].count += part;
        } else {
            s->run[s->runs++] = (window_run){image * x[0], from, done, part};
        }
        next = from + part * s->step;
        element_bits row_place = window_place(i, s->first_row), column_place = window_place(j, s->first_column);
        for (int64_t c = 0; c < part; c++) {
            s->row[done + c] = row_place;
            s->column[done + c] = column_place + (element_bits)c;
        }
        done += part;
        j = 0;
        if (++i == w->out_size[0]) {
            i = 0;
            image++;
        }
    }
    for (int64_t c = count; c < round_up(count, LANES); c++) {
        s->row[c] = s->column[c] = 0;
    }
}

/* Returns which of the `count` offsets from, from + step ... are in s->lowest .. s->highest, as a range of their
 * indices. */
INLINE index_range window_in_channel(const window_strip *s, int64_t from, int64_t step, int64_t count) {
    int64_t last = from + (count - 1) * step, size = s->highest - s->lowest + 1;
    if (min_int64(from, last) >= s->lowest && -min_int64(-from, -last) <= s->highest) {
        return (index_range){0, count};
    }
    PATH_IF(step > 0, "window: part of an ascending run");
    PATH_IF(step < 0, "window: part of a descending run");
    if (step == 0) {
        return (index_range){0, 0};
    }
    return step > 0 ? window_inside(from - s->lowest, step, count, size)
                    : window_inside(s->highest - from, -step, count, size);
}

/* Prepares `t` for row p of the window. window_tap_start() completes it for each column of that row. */
static void window_tap_row(window_tap *t, const window_strip *s, int64_t p) {
    const lw_window_layout *w = s->layout;
    int64_t down = p * w->dilation[0];
    index_range i = window_inside(down - w->padding[0], w->stride[0], w->out_size[0], w->in_size[0]);
    vbits begin = b_set(window_place(i.begin, s->first_row)), end = b_set(window_place(i.end, s->first_row));
    t->strip = s;
    t->down = down * w->strides[0][2];
    for (int64_t c = 0; c < s->count; c += LANES) {
        vbits row = b_load(s->row + c);
        b_store(t->rows_inside + c, m_and(b_ge(row, begin), b_lt(row, end)));
    }
}

/* Computes the runs and the mask of the tap in column q of the row given to window_tap_row(). Runs may include padding,
 * which the mask hides, but stay within the memory of the channel. */
static void window_tap_start(window_tap *t, int64_t q) {
    const window_strip *s = t->strip;
    const lw_window_layout *w = s->layout;
    int64_t across = q * w->dilation[1], distance = t->down + across * w->strides[0][3];
    index_range j = window_inside(across - w->padding[1], w->stride[1], w->out_size[1], w->in_size[1]);
    vbits begin = b_set(window_place(j.begin, s->first_column)), end = b_set(window_place(j.end, s->first_column));
    for (int64_t c = 0; c < s->count; c += LANES) {
        vbits column = b_load(s->column + c);
        vmask inside = m_and(b_ge(column, begin), b_lt(column, end));
        b_store(t->inside + c, m_and(inside, b_load(t->rows_inside + c)));
    }
    t->runs = t->covered = 0;
    for (int64_t r = 0; r < s->runs; r++) {
        window_run run = s->run[r];
        run.from += distance;
        index_range range = window_in_channel(s, run.from, s->step, run.count);
        run.from += run.image + range.begin * s->step;
        run.to += range.begin;
        run.count = range.end - range.begin;
        if (run.count > 0) {
            t->run[t->runs++] = run;
            t->covered += run.count;
        }
    }
}

INLINE void window_mask(element *to, vec x, const element_bits *inside) {
    v_store(to, v_from_bits(v_bits(x) & b_load(inside)));
}

/* Copies contiguous elements; those that the mask hides become 0. The last vector may overlap the one before it. */
INLINE void window_copy(element *to, const element *from, const element_bits *inside, int64_t count) {
    if (count < LANES) {
        PATH_IF(LANES > 1, "window: run shorter than a vector");
        vec x = v_load_partial(from, (int)count, v_set(0));
        v_store_partial(to, v_from_bits(v_bits(x) & b_load(inside)), (int)count);
        return;
    }
    int64_t c = 0;
    for (; c + LANES <= count; c += LANES) {
        window_mask(to + c, v_load(from + c), inside + c);
    }
    if (c < count) {
        PATH_IF(LANES > 1, "window: last vector overlaps");
        c = count - LANES;
        window_mask(to + c, v_load(from + c), inside + c);
    }
}

/* Writes to to[c] the element of this channel that the tap reads for result c, or 0 for padding. Fills with zeros from
 * the strip's end to `width`, which is a whole number of vectors. */
static void window_tap_read(const window_tap *t, const char *channel, element *to, int64_t width) {
    int64_t step = t->strip->step;
    if (t->covered < width) {
        for (int64_t c = 0; c < width; c += LANES) {
            v_store(to + c, v_set(0));
        }
    }
    for (int64_t r = 0; r < t->runs; r++) {
        window_run run = t->run[r];
        const char *from = channel + run.from;
        const element_bits *inside = t->inside + run.to;
        PATH_IF(step != sizeof(element), "window: strided run");
        if (step == sizeof(element)) {
            window_copy(to + run.to, (const element *)from, inside, run.count);
            continue;
        }
        for (int64_t c = 0; c < run.count; c++) {
            element_bits bits;
            __builtin_memcpy(&bits, from + c * step, sizeof bits);
            bits &= inside[c];
            __builtin_memcpy(to + run.to + c, &bits, sizeof bits);
        }
    }
}
