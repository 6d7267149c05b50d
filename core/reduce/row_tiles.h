/* Rows along an axis that is not the last: the elements of a row are far apart, and those of neighbouring rows are
 * adjacent. A tile of such rows is copied to contiguous rows by transposing it, computed there, and transposed back, so
 * that memory is read and written by whole cache lines. Included by rows.h. */
#pragma once

#include "layout/transpose.h"

enum {
    TILE_LEAST = 4,       /* rows; fewer are read element by element */
    TILE_MOST = 64,       /* rows, if they are short enough */
    TILE_BYTES = 1 << 18, /* of a tile whose rows are not longer than this many cache lines: within a small L2 */
};

/* Returns whether the rows of an operand are next to each other, and their elements are not. */
static int row_is_column(const lw_layout *layout, int32_t operand) {
    int32_t outer = layout->ndim - layout->inner;
    return layout->inner == 1 && outer && layout->shape[outer - 1] >= TILE_LEAST &&
           layout->strides[operand][outer - 1] == ELEMENT_SIZE && layout->strides[operand][outer] != ELEMENT_SIZE;
}

/* The tiles of a call: which operands are transposed, and the buffer of a task. */
typedef struct row_tiles {
    int reads, writes;  /* whether the first input is transposed, and whether the output is */
    int64_t rows, step; /* of a tile; bytes from one row in the buffer to the next */
    char *buffers;      /* one for each task; NULL if nothing is transposed or memory is short */
} row_tiles;

static row_tiles row_tiles_of(const lw_layout *layout, int32_t output, int64_t length) {
    row_tiles t = {.reads = row_is_column(layout, 0), .writes = row_is_column(layout, output)};
    if (!t.reads && !t.writes) {
        return t;
    }
    int64_t lines = TILE_BYTES / (length * 64); /* how many rows, one line wide, fit into a tile */
    t.rows = min_int64(TILE_MOST, ROW_LINE * (lines ? lines : 1));
    t.step = (round_up(length, ROW_LINE) + ROW_LINE) * ELEMENT_SIZE; /* a power of two would map rows to few sets */
    return t;
}

/* Computes `count` adjacent rows, the first of which is `r`; `step` is the distance of rows by operand, then that of
 * the output. */
static void row_tiles_run(const row_tiles *t, int64_t task, const row *r, int64_t count, const int64_t *step,
                          int32_t inputs, row_function *function) {
    char *buffer = t->buffers + task * t->rows * t->step;
    for (int64_t first = 0; first < count; first += t->rows) {
        int64_t rows = min_int64(count - first, t->rows);
        PATH_IF(first > 0, "rows: another tile");
        PATH("rows: a tile");
        const char *from = r->in[0].data + first * step[0];
        char *to = r->out_data + first * step[inputs];
        if (t->reads) {
            transpose(buffer, t->step, from, r->in[0].stride, r->length, rows, ELEMENT_SIZE);
        }
        for (int64_t i = 0; i < rows; i++) {
            row one = *r;
            for (int32_t o = 1; o < inputs; o++) {
                one.in[o].data += (first + i) * step[o];
            }
            one.in[0].data = t->reads ? buffer + i * t->step : from + i * step[0];
            one.in[0].stride = t->reads ? ELEMENT_SIZE : r->in[0].stride;
            one.out_data = t->writes ? buffer + i * t->step : to + i * step[inputs];
            one.out = (row_operand){one.out_data, t->writes ? ELEMENT_SIZE : r->out.stride};
            one.prefetch = one.in[0].data;
            function(&one);
        }
        if (t->writes) {
            transpose(to, r->out.stride, buffer, t->step, rows, r->length, ELEMENT_SIZE);
        }
    }
}
