/* Calls of a body for rows, which are in place or in buffers. */
#pragma once

#include "elementwise.h"
#include "layout/copy.h"

/* Rows that a body computes one by one, or all at once if they are contiguous in all operands. */
typedef struct body_rows {
    int64_t length;
    int64_t step[LW_MAX_OPERANDS]; /* bytes from one row to the next */
    uint32_t held;                 /* of a body's inputs, those that are FILLED and held */
    uint32_t columns;              /* those that are held, with an element for each row */
} body_rows;

/* Runs the body for each row of `count` elements. The number of inputs is a constant, or `last`. */
INLINE void run_each_row(const elementwise *kernel, const body_rows *rows, int64_t column, int64_t count,
                         const void *const *inputs, char *output, const lw_scalar *parameters, int32_t last) {
    _Alignas(64) char element[LW_MAX_OPERANDS - 1][HELD_BYTES];
    const void *arrays[LW_MAX_OPERANDS];
    const char *at[LW_MAX_OPERANDS];
    uint32_t held = rows->held | rows->columns;
    for (int32_t o = 0; o < last; o++) {
        at[o] = inputs[o];
    }
    for (int64_t part; count > 0; count -= part, column = 0) {
        part = min_int64(count, rows->length - column);
        for (int32_t o = 0; o < last; o++) {
            arrays[o] = at[o];
            if (BODY_HOLDS && rows->columns >> o & 1) {
                repeat_element(element[o], HELD_BYTES, at[o], kernel->size[o]);
                arrays[o] = element[o];
            }
            at[o] += rows->step[o] - (BODY_HOLDS && held >> o & 1 ? 0 : column * kernel->size[o]);
        }
        run_body(kernel, part, held, arrays, output, parameters);
        output += rows->step[last] - column * kernel->size[last];
    }
}

/* Runs the body for `count` elements, beginning at element `column` of a row. */
static __attribute__((noinline)) void run_body_rows(const elementwise *kernel, const body_rows *rows, int64_t column,
                                                    int64_t count, const void *const *inputs, char *output,
                                                    const lw_scalar *parameters) {
    int32_t last = kernel->operands - 1;
    int is_dense = !rows->columns && rows->step[last] == rows->length * kernel->size[last];
    for (int32_t o = 0; o < last; o++) {
        is_dense &= rows->held >> o & 1 || rows->step[o] == rows->length * kernel->size[o];
    }
    if (is_dense) {
        PATH_IF(column + count > rows->length, "elementwise: several rows at once");
        run_body(kernel, count, rows->held, inputs, output, parameters);
        return;
    }
    PATH_IF(BODY_HOLDS && rows->columns, "elementwise: holds the element of a row");
    if (last == 1 && !IS_DOWNLOADED) {
        run_each_row(kernel, rows, column, count, inputs, output, parameters, 1);
    } else if (last == 2 && !IS_DOWNLOADED) {
        run_each_row(kernel, rows, column, count, inputs, output, parameters, 2);
    } else {
        run_each_row(kernel, rows, column, count, inputs, output, parameters, last);
    }
}

/* Converts `count` elements, beginning at element `column` of a row. */
static __attribute__((noinline)) void convert(const elementwise *cast, int64_t column, int64_t count, int64_t row,
                                              const void *from, int64_t from_step, void *to, int64_t to_step) {
    body_rows rows = {.length = row, .step = {from_step, to_step}};
    run_body_rows(cast, &rows, column, count, &from, to, NULL);
}
