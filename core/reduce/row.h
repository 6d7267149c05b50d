/* One row, or rows side by side, and the kernels that compute rows: what does not depend on elements (rows.h). */
#pragma once

#include "layout/layout_iterator.h"
#include "reduce/reduce.h"

/* One operand along a row. */
typedef struct row_operand {
    const char *data; /* NULL if an optional input is absent */
    int64_t stride;
} row_operand;

enum {
    ROW_INPUTS = 3,
    ROW_BESIDE = REDUCE_MAX_COLUMNS /* rows side by side, at most */
};

/* What tasks that divide a row share (row_division.h). */
typedef struct row_division {
    lw_context *context;
    lw_status status; /* of the first job that failed; later ones do nothing */
} row_division;

/* A row; or the first of `width` adjacent rows, as many as fill vectors, whose input and output are in one buffer. */
typedef struct row {
    int64_t length, width;
    row_operand in[ROW_INPUTS];
    row_operand out;      /* for functions that read back what they wrote: `data` equals out_data */
    char *out_data;       /* where to write the output; NULL to compute only the sum of the results */
    const char *prefetch; /* the next row; or this row, if there is nothing to prefetch */
    const lw_scalar *parameters;
    row_division *division; /* NULL unless tasks divide the row */
} row;

typedef void row_function(const row *r);

typedef struct row_kernel {
    row_function *one, *beside; /* compute one row, and rows side by side */
    int32_t inputs, size;       /* bytes of an element */
} row_kernel;

/* Computes the rows of a layout: what a kernel of the kind rows does. */
lw_status run_rows(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                   const lw_scalar *parameters, const row_kernel *kernel);
