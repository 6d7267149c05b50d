/* Copies elements of any layout: in runs of contiguous elements by wide moves, or transposed in registers. */
#pragma once

#include "layout/layout_iterator.h"

/* The rows of a matrix, at any distance from each other, and so for two dimensions of rows. Steps are in bytes. */
typedef struct copied_rows {
    int64_t count[2];     /* rows along the outer and the inner of the two dimensions */
    int64_t to_step[2];   /* from one row of the copy to the next, along either */
    int64_t from_step[2]; /* the same of the source */
} copied_rows;

/* Copies matrices of `columns` elements a row. `to_step` and `from_step` are the distances of elements in a row. Source
 * and copy must not overlap. */
void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, const copied_rows *rows, int64_t columns,
               int32_t size);

/* Copies operand 0 of a layout to operand 1. */
lw_status copy_layout(lw_context *context, const lw_layout *layout, const char *from, char *to, int32_t size);
