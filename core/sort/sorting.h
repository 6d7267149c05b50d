/* Sort kernels: sort and argsort of each row. They write the whole result or only its first elements. Stable: equal
 * elements keep their order, in descending sorts, too. NaN counts as the largest, so a descending sort puts it first.
 * -0 equals 0. sort_numbers.h and sort_bools.h sort one row.
 *
 * Sorting a row takes several passes over its elements, in blocks, so that the host can interrupt the sort of a long
 * row between two blocks. If there are fewer rows than threads, the threads share the passes over each long row.
 * Selection is then done in parts of the row, followed by a sort of the results of all parts.
 *
 * The layout is that of rows.h. Parameters: the number of results to write, and whether to sort in descending order.
 * core/ops/<op>.h defines the kernel lw_<op>_<dtype> with the macro SORT. Those of unsigned integers call the functions
 * of signed ones, with keys whose highest bit is inverted. */
#pragma once

#include "element.h"
#include "layout/copy.h"
#include "sort/radix_sort.h"

#ifdef IS_UNSIGNED
#define SORT_ROWS JOIN(sort_rows, BY_PRECISION(int32, int64))
#define SORT_FLIP BITS_MIN
#else
#define SORT_ROWS JOIN(sort_rows, ELEMENT)
#define SORT_FLIP 0
#endif

/* Sorts rows. `flip` is XORed with the keys of elements; a sort in descending order inverts them, too. */
__attribute__((visibility("hidden"))) lw_status SORT_ROWS(lw_context *context, const void *layout_argument,
                                                          const void *const *inputs, void *const *outputs,
                                                          const lw_scalar *parameters, int gives_indices, int64_t flip);

/* Defines the kernel lw_<op>_<dtype>. */
#define SORT(op, gives_indices) \
    ELEMENT_KERNEL(op) { return SORT_ROWS(context, layout, inputs, outputs, parameters, gives_indices, SORT_FLIP); }

#ifndef IS_UNSIGNED
/* One row, and how to sort it. */
typedef struct sort_row {
    const char *x;
    char *out;
    int64_t x_stride, out_stride;
    int64_t length, count; /* elements of x; results to write */
    element_bits flip;     /* XORed with the keys */
    int gives_indices;     /* whether the results are positions */
} sort_row;

#ifdef LW_ELEMENT_BOOL
#include "sort/sort_bools.h"
#else
#include "sort/sort_numbers.h"
#endif

typedef struct sort_call {
    const lw_layout *layout;
    sort_row row; /* the same for all rows; x and out are not set */
    const char *x;
    char *out;
    int64_t rows, per_task;
} sort_call;

static lw_status sort_task(lw_context *context, int64_t task, const void *argument) {
    const sort_call *call = argument;
    sort_row s = call->row;
    int64_t first = task * call->per_task, end = min_int64(first + call->per_task, call->rows);
    size_t bytes = sort_scratch_bytes(context, &s);
    void *scratch = bytes ? allocate_scratch(context, bytes) : NULL;
    if (bytes && !scratch) {
        return LW_NO_MEMORY;
    }
    lw_status status = LW_OK;
    layout_iterator it;
    iterator_start(&it, call->layout, 0, call->layout->ndim - call->layout->inner, 2, first);
    for (int64_t i = first; i < end && status == LW_OK; i++, iterator_next(&it)) {
        s.x = call->x + it.offset[0];
        s.out = call->out + it.offset[1];
        status = sort_one_row(context, &s, scratch);
    }
    release_scratch(context, scratch);
    return status;
}

lw_status SORT_ROWS(lw_context *context, const void *layout_argument, const void *const *inputs, void *const *outputs,
                    const lw_scalar *parameters, int gives_indices, int64_t flip) {
    const lw_layout *layout = layout_argument;
    int32_t outer = layout->ndim - layout->inner;
    sort_call call = {.layout = layout, .x = inputs[0], .out = outputs[0]};
    call.row = (sort_row){.count = parameters[0].i, .gives_indices = gives_indices};
    call.row.length = layout_count(layout, outer, layout->ndim);
    call.row.flip = (element_bits)(parameters[1].i ? ~flip : flip);
    if (layout->inner) {
        call.row.x_stride = layout->strides[0][outer];
        call.row.out_stride = layout->strides[1][outer];
    }
    call.rows = layout_count(layout, 0, outer);
    if (call.rows == 0 || call.row.count == 0) {
        return LW_OK;
    }
    if (call.row.length == 1 && call.rows > 1) {
        PATH_EITHER(gives_indices, "sort: positions of single elements", "sort: single elements");
        return gives_indices ? fill_zero_indices(context, layout, outputs[0])
                             : copy_layout(context, layout, inputs[0], outputs[0], ELEMENT_SIZE);
    }
    if (HAS_THREADS && call.rows < context->threads && call.row.length >= SORT_DIVIDED) {
        call.per_task = call.rows;
        return sort_task(context, 0, &call);
    }
#ifndef LW_ELEMENT_BOOL
    if (!gives_indices && call.row.count == call.row.length && call.row.length <= SORT_BESIDE &&
        call.rows >= SORT_ROWS_BESIDE) {
        lw_scalar own = {.i = call.row.flip};
        return run_rows(context, layout, inputs, outputs, &own, &sort_short_rows);
    }
#endif
    call.per_task = items_per_task(context, call.rows, 1);
    return run_tasks(context, divide_up(call.rows, call.per_task), sort_task, &call);
}

#endif
