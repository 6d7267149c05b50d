/* Row operations: every row of x, the last dimension of the layout, is transformed as a whole.
 *
 * A row operation is a function of one row. Its core/ops/<op>.h defines the kernel lw_<op>_float32 with ROWS, which
 * calls that function for each row; kernels.c includes the header and names the kernel in the table. A row is read
 * and written in pieces that row_read and row_write pack and unpack where they are not contiguous. */
#ifndef LANEWISE_ROWS_H
#define LANEWISE_ROWS_H

#include "strided.h"
#include "walk.h"

/* One operand along a row. */
typedef struct row_operand {
    const char *data; /* NULL where an optional input is absent */
    int64_t stride;
} row_operand;

typedef struct row {
    int64_t length;
    row_operand in[3];
    char *out;
    int64_t out_stride;
    const lw_scalar *parameters;
} row;

typedef void row_function(const row *r);

enum { ROWS_GRAIN = 1 << 15 }; /* elements worth a task */

static inline const float *row_read(row_operand operand, int64_t start, int64_t count, float *packed) {
    const char *from = operand.data + start * operand.stride;
    if (operand.stride == sizeof(float)) return (const float *)from;
    copy_strided((char *)packed, sizeof(float), from, operand.stride, count, sizeof(float));
    return packed;
}

/* Where to compute the piece of the result; row_write puts it into its place. */
static inline float *row_result(const row *r, int64_t start, float *packed) {
    return r->out_stride == sizeof(float) ? (float *)r->out + start : packed;
}
static inline void row_write(const row *r, int64_t start, int64_t count, const float *piece) {
    if (r->out_stride == sizeof(float)) return;
    copy_strided(r->out + start * r->out_stride, r->out_stride, (const char *)piece, sizeof(float), count,
                 sizeof(float));
}

typedef struct rows {
    const lw_layout *layout;
    const void *const *inputs;
    char *out;
    const lw_scalar *parameters;
    row_function *function;
    int32_t input_count;
    int64_t count, per_task, length;
} rows;

static lw_status rows_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const rows *all = argument;
    const lw_layout *layout = all->layout;
    int32_t outer = layout->ndim - layout->inner, result = all->input_count;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->count);
    row r = {.length = all->length, .parameters = all->parameters};
    for (int32_t i = 0; i < all->input_count; i++) r.in[i].stride = layout->inner ? layout->strides[i][outer] : 0;
    r.out_stride = layout->inner ? layout->strides[result][outer] : 0;
    walk w;
    walk_start(&w, layout, 0, outer, result + 1, first);
    for (int64_t i = first; i < end; i++, walk_next(&w)) {
        for (int32_t o = 0; o < all->input_count; o++)
            r.in[o].data = all->inputs[o] ? (const char *)all->inputs[o] + w.offset[o] : NULL;
        r.out = all->out + w.offset[result];
        all->function(&r);
    }
    return LW_OK;
}

static lw_status run_rows(lw_context *context, const void *layout_argument, const void *const *inputs,
                          void *const *outputs, const lw_scalar *parameters, int32_t input_count,
                          row_function *function) {
    const lw_layout *layout = layout_argument;
    rows all = {layout, inputs, outputs[0], parameters, function, input_count, 0, 0, 0};
    all.count = walk_count(layout, 0, layout->ndim - layout->inner);
    all.length = walk_count(layout, layout->ndim - layout->inner, layout->ndim);
    if (all.count == 0 || all.length == 0) return LW_OK;
    all.per_task = divide_up(ROWS_GRAIN, all.length);
    return run_tasks(context, divide_up(all.count, all.per_task), rows_task, &all);
}

/* Defines the kernel lw_<op>_float32 from the function <op>_row and the number of inputs. */
#define ROWS(op, input_count)                                                                              \
    static lw_status lw_##op##_float32(lw_context *context, const void *layout, const void *const *inputs, \
                                       void *const *outputs, const lw_scalar *parameters) {                \
        return run_rows(context, layout, inputs, outputs, parameters, input_count, op##_row);              \
    }

#endif
