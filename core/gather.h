/* The kernels of take and put. int32 indices select positions along one axis; take copies items from these
 * positions, and put copies items to them. One kernel serves all dtypes whose elements have the same size.
 *
 * The layout iterates over the result (take) or the values (put). The indexed operand has stride 0 along the dimensions
 * of the indices; the kernel adds the index times the stride of the axis instead. Parameters: the extent of the axis,
 * and its stride in bytes. Negative indices count from the end. All indices are checked before anything is written.
 *
 * core/ops/take.h and put.h define the kernels lw_<op>_bits<n> by the macro GATHER; kernels.c includes them and lists
 * the kernels in the table. */
#pragma once

#include "spans.h"
#include "strided.h"

INLINE int64_t gather_index(const char *p) {
    int32_t index;
    __builtin_memcpy(&index, p, sizeof index);
    return index;
}

typedef struct gather_indices {
    lw_layout layout; /* the indices' layout, without the dimensions along which they are broadcast */
    const char *data;
    int64_t count, per_task, extent;
} gather_indices;

static lw_status gather_check_task(lw_context *context, int64_t task, const void *argument) {
    const gather_indices *all = argument;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->count);
    layout_iterator it;
    iterator_start(&it, &all->layout, 0, all->layout.ndim, 1, first);
    for (int64_t i = first; i < end; i++, iterator_next(&it)) {
        int64_t index = gather_index(all->data + it.offset[0]);
        if (index >= -all->extent && index < all->extent) {
            continue;
        }
        context->bad_index = index;
        return LW_BAD_INDEX;
    }
    return LW_OK;
}

static lw_status gather_check(lw_context *context, const lw_layout *layout, const char *indices, int64_t extent) {
    gather_indices all;
    lw_layout *own = &all.layout;
    all.data = indices;
    all.extent = extent;
    own->ndim = 0;
    for (int32_t d = 0; d < layout->ndim; d++) {
        if (layout->strides[1][d] == 0 && layout->shape[d] > 0) {
            continue;
        }
        own->shape[own->ndim] = layout->shape[d];
        own->strides[0][own->ndim++] = layout->strides[1][d];
    }
    all.count = layout_count(own, 0, own->ndim);
    all.per_task = items_per_task(context, all.count, SPAN_UNIT);
    return run_tasks(context, divide_up(all.count, all.per_task), gather_check_task, &all);
}

/* Copies a span's items, of `size` bytes each, from operand 0 to operand 2. `indexed` is the operand in which the
 * index selects a position: 0 for take, 2 for put. */
INLINE void gather_span(const span *p, const lw_scalar *parameters, int indexed, int size) {
    int64_t extent = parameters[0].i, stride = parameters[1].i;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t index = gather_index(p->data[1] + i * p->step[1]);
        int64_t along = (index < 0 ? index + extent : index) * stride;
        const char *from = p->data[0] + i * p->step[0] + (indexed == 0 ? along : 0);
        char *to = p->data[2] + i * p->step[2] + (indexed == 2 ? along : 0);
        if (p->step[1] == 0) { /* the whole span has the same index */
            PATH("gather: one index per span");
            copy_strided(to, p->step[2], from, p->step[0], p->count, size);
            return;
        }
        PATH("gather: one index per item");
        __builtin_memcpy(to, from, (size_t)size);
    }
}

/* Spans that several indices of put may write to, so each element gets its values in order. */
typedef struct ordered_spans {
    spans all;
    int32_t dim;      /* the dimension along which the spans are cut into parts */
    int64_t per_part; /* positions along this dimension per part */
    int64_t next;     /* the next task if they run one after another */
} ordered_spans;

enum {
    PUT_LINE = 64,             /* elements along the last dimension per part, at least: a multiple of a cache line */
    PUT_SERIAL_ITEMS = 1 << 18 /* items per task if tasks run one after another; the host can interrupt between them */
};

static lw_status put_part(lw_context *context, int64_t task, const void *argument) {
    const ordered_spans *ordered = argument;
    spans part = ordered->all;
    lw_layout layout = *part.layout;
    int32_t dim = ordered->dim;
    int64_t first = task * ordered->per_part;
    layout.shape[dim] = min_int64(layout.shape[dim] - first, ordered->per_part);
    for (int32_t i = 0; i < part.operands; i++) {
        part.data[i] += first * layout.strides[i][dim];
    }
    part.layout = &layout;
    part.per_task = part.total = layout_count(&layout, 0, layout.ndim);
    return spans_task(context, 0, &part);
}

static lw_status put_next(lw_context *context, int64_t task, const void *argument) {
    (void)task;
    const ordered_spans *ordered = argument;
    return spans_task(context, ordered->next, &ordered->all);
}

/* Writes all values in an order in which the last value for an element wins. Positions along a dimension in which the
 * result has a stride are different elements, so parts of it can be written in parallel: whole rows, or columns of rows
 * that have one index each. If all dimensions are those of the indices, only their order tells which value wins. */
static lw_status put_spans(lw_context *context, const lw_layout *layout, const void *const *inputs,
                           void *const *outputs, const lw_scalar *parameters, span_function *function) {
    ordered_spans ordered = {.all = all_spans(layout, inputs, 2, outputs, parameters, function)};
    int64_t most = 1, tasks = context->tasks;
    for (int32_t d = 0; HAS_THREADS && d < layout->ndim && most < tasks; d++) {
        int is_last = d == layout->ndim - 1;
        int64_t extent = layout->shape[d], unit = is_last ? PUT_LINE : 1;
        if (layout->strides[2][d] != 0 && extent / unit > most) {
            most = extent / unit;
            ordered.dim = d;
            /* Each part repeats the work per index, so rows are cut into only one part per thread. */
            ordered.per_part = divide_up(divide_up(extent, is_last ? context->threads : tasks), unit) * unit;
        }
    }
    if (HAS_THREADS && ordered.per_part > 0) {
        PATH_IF(HAS_THREADS, "put: in parts");
        return run_tasks(context, divide_up(layout->shape[ordered.dim], ordered.per_part), put_part, &ordered);
    }
    PATH("put: in order");
    ordered.all.per_task = PUT_SERIAL_ITEMS;
    lw_status status = LW_OK;
    for (; ordered.next * PUT_SERIAL_ITEMS < ordered.all.total && status == LW_OK; ordered.next++) {
        status = run_interruptible(context, put_next, &ordered);
    }
    return status;
}

/* Defines the kernel lw_<op>_bits<bits>. If several indices of put are equal, the last value wins. */
#define GATHER(op, bits, indexed)                                                                             \
    static void op##_span_##bits(const span *p, const lw_scalar *parameters) {                                \
        gather_span(p, parameters, indexed, bits / 8);                                                        \
    }                                                                                                         \
    static lw_status lw_##op##_bits##bits(lw_context *context, const void *layout, const void *const *inputs, \
                                          void *const *outputs, const lw_scalar *parameters) {                \
        lw_status status = gather_check(context, layout, inputs[1], parameters[0].i);                         \
        if (status != LW_OK) return status;                                                                   \
        return indexed == 2 ? put_spans(context, layout, inputs, outputs, parameters, op##_span_##bits)       \
                            : run_spans(context, layout, inputs, 2, outputs, parameters, op##_span_##bits);   \
    }
