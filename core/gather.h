/* The kernels of take and put. int32 indices select positions along one axis; take copies items from these
 * positions, and put copies items to them. One kernel serves all dtypes whose elements have the same size.
 *
 * The layout iterates over the result (take) or the values (put). The indexed operand has stride 0 along the dimensions
 * of the indices; the kernel adds the index times the stride of the axis instead. Parameters: the extent of the axis,
 * and its stride in bytes. Negative indices count from the end. All indices are checked before anything is written.
 *
 * core/ops/take.h and put.h define the kernels lw_<op>_bits<n> by the macros TAKE and PUT; kernels.c includes them. */
#pragma once

#include "layout/spans.h"
#include "layout/strided.h"

enum {
    TAKE_FEW = 16,    /* indices of a row, at most, that are taken one after the other from many rows */
    TAKE_ROWS = 256,  /* rows of a block: their lines stay in L1 */
    TAKE_SAME = 1024, /* indices, at most, whose positions are computed once for all rows */
    TAKE_AHEAD = 8,   /* how many rows ahead are prefetched, */
    TAKE_LINES = 8    /* at most so many lines of each */
};

INLINE int32_t gather_index(const char *p) {
    int32_t index;
    __builtin_memcpy(&index, p, sizeof index);
    return index;
}

/* Returns whether `count` contiguous indices are all in [-extent, extent). */
INLINE int gather_all_fit(const char *indices, int64_t count, int64_t extent) {
    int32_t low = 0, high = 0;
    for (int64_t i = 0; i < count; i++) { /* without branches, so that compilers vectorize it */
        int32_t index = gather_index(indices + i * (int64_t)sizeof index);
        low = index < low ? index : low;
        high = index > high ? index : high;
    }
    return low >= -extent && high < extent;
}

static lw_status gather_check_task(lw_context *context, int64_t task, const void *argument) {
    const spans *all = argument;
    int64_t extent = all->parameters[0].i;
    span_iterator it;
    span p;
    for (span_start(&it, all, 1, task); span_next(&it, &p);) {
        if (!IS_DOWNLOADED && p.step[0] == sizeof(int32_t) && gather_all_fit(p.data[0], p.count, extent)) {
            continue;
        }
        for (int64_t i = 0; i < p.count; i++) {
            int64_t index = gather_index(p.data[0] + i * p.step[0]);
            if (index < -extent || index >= extent) {
                context->bad_index = index;
                return LW_BAD_INDEX;
            }
        }
    }
    return LW_OK;
}

/* Checks each index once, although the layout may broadcast the indices. */
static lw_status gather_check(lw_context *context, const lw_layout *layout, const char *indices,
                              const lw_scalar *parameters) {
    lw_layout own;
    own.ndim = 0;
    for (int32_t d = 0; d < layout->ndim; d++) {
        int64_t extent = layout->shape[d], stride = layout->strides[1][d];
        if (stride == 0 && extent != 0) {
            continue;
        }
        int merges = own.ndim > 0 && own.strides[0][own.ndim - 1] == extent * stride;
        own.ndim += !merges;
        own.shape[own.ndim - 1] = merges ? own.shape[own.ndim - 1] * extent : extent;
        own.strides[0][own.ndim - 1] = stride;
    }
    spans all = {.layout = &own, .operands = 1, .data = {(char *)indices}, .parameters = parameters};
    all.total = layout_count(&own, 0, own.ndim);
    all.per_task = items_per_task(context, all.total, SPAN_UNIT);
    return run_tasks(context, divide_up(all.total, all.per_task), gather_check_task, &all);
}

/* Returns the position along the axis that an index selects. */
INLINE int64_t gather_position(const char *p, int64_t extent) {
    int64_t index = gather_index(p);
    return index < 0 ? index + extent : index;
}

/* Copies item i of a span, of `size` bytes, from operand 0 to operand 2. `indexed` is the operand in which the index
 * selects a position: 0 for take, 2 for put. */
INLINE void gather_item(const span *p, int64_t i, int64_t extent, int64_t stride, int indexed, int size) {
    int64_t along = gather_position(p->data[1] + i * p->step[1], extent) * stride;
    const char *from = p->data[0] + i * p->step[0] + (indexed == 0 ? along : 0);
    char *to = p->data[2] + i * p->step[2] + (indexed == 2 ? along : 0);
    __builtin_memcpy(to, from, (size_t)size);
}

INLINE void gather_span(const span *p, const lw_scalar *parameters, int indexed, int size) {
    span own = *p; /* a local copy stays in registers, because stores of items cannot alias it */
    int64_t extent = parameters[0].i, stride = parameters[1].i;
    if (own.step[1] == 0) {
        PATH("gather: one index per span");
        own.data[indexed] += gather_position(own.data[1], extent) * stride;
        copy_strided(own.data[2], own.step[2], own.data[0], own.step[0], own.count, size);
        return;
    }
    PATH("gather: one index per item");
    if (own.step[1] == sizeof(int32_t) && own.step[0] == 0 && own.step[2] == size && indexed == 0) {
        for (int64_t i = 0; i < own.count; i++) { /* with steps that are constants */
            int64_t position = gather_position(own.data[1] + i * (int64_t)sizeof(int32_t), extent);
            __builtin_memcpy(own.data[2] + i * size, own.data[0] + position * stride, (size_t)size);
        }
        return;
    }
    for (int64_t i = 0; i < own.count; i++) {
        gather_item(&own, i, extent, stride, indexed, size);
    }
}

/* Sets chosen[i] to 1 if the position that index i selects is in a range of the axis, else to 0. The range is given by
 * parameters 2 (its first position) and 3 (its length). */
INLINE void put_choose(uint8_t *chosen, const char *indices, int64_t step, int64_t count, const lw_scalar *parameters) {
    uint32_t extent = (uint32_t)parameters[0].i, first = (uint32_t)parameters[2].i, length = (uint32_t)parameters[3].i;
    for (int64_t i = 0; i < count; i++) {
        int32_t index = gather_index(indices + i * step);
        chosen[i] = (uint32_t)index + (index < 0 ? extent : 0) - first < length;
    }
}

/* Writes the span's items whose positions are in the range of put_choose(). Compares the indices of a block before it
 * writes: a branch per index would often be mispredicted. */
INLINE void put_range_span(const span *p, const lw_scalar *parameters, int size) {
    enum { BLOCK = 64 };
    span own = *p;
    int64_t extent = parameters[0].i, stride = parameters[1].i;
    if (own.step[1] == 0) {
        uint8_t chosen;
        put_choose(&chosen, own.data[1], 0, 1, parameters);
        if (chosen) {
            gather_span(p, parameters, 2, size);
        }
        return;
    }
    for (int64_t begin = 0; begin < own.count; begin += BLOCK) {
        int64_t count = min_int64(BLOCK, own.count - begin);
        const char *indices = own.data[1] + begin * own.step[1];
        uint8_t chosen[BLOCK] = {0};
        if (own.step[1] == sizeof(int32_t) && count == BLOCK) {
            put_choose(chosen, indices, sizeof(int32_t), BLOCK, parameters);
        } else {
            put_choose(chosen, indices, own.step[1], count, parameters);
        }
        uint64_t bits = 0;
        for (int i = 0; i < BLOCK; i += 8) {
            uint64_t bytes;
            __builtin_memcpy(&bytes, chosen + i, 8);
            bits |= (bytes * 0x0102040810204080 >> 56) << i; /* the lowest bit of each byte, little-endian */
        }
        for (; bits; bits &= bits - 1) {
            gather_item(&own, begin + __builtin_ctzll(bits), extent, stride, 2, size);
        }
    }
}

/* Spans that several indices of put may write to, so each element gets its values in order. */
typedef struct ordered_spans {
    spans all;
    int32_t dim;      /* the dimension along which the spans are cut into parts */
    int64_t per_part; /* positions along this dimension, or along the axis, per part */
    int64_t next;     /* the next of `all`'s tasks, if they run in sequence */
} ordered_spans;

enum {
    PUT_LINE = 64,              /* elements along the last dimension per part, at least: a multiple of a cache line */
    PUT_SERIAL_ITEMS = 1 << 18, /* items per task if tasks run one after another; the host can interrupt between them */
    /* If tasks write ranges of the axis, each reads all indices. On a Xeon with 16 processors and 2 MB of L2 (November
     * 2026), four threads took as long as one that writes in order; 8 to 16 were 1.4 to 4 times as fast, but slower if
     * L2 held the result. */
    PUT_RANGES_MIN_THREADS = 8,
    PUT_RANGES_MIN_BYTES = 1 << 21
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

static lw_status put_range(lw_context *context, int64_t task, const void *argument) {
    const ordered_spans *ordered = argument;
    spans part = ordered->all;
    const lw_scalar *given = part.parameters;
    lw_scalar parameters[] = {given[0], given[1], {.i = task * ordered->per_part}, {.i = ordered->per_part}};
    part.parameters = parameters;
    return spans_task(context, 0, &part);
}

static lw_status put_next(lw_context *context, int64_t task, const void *argument) {
    const ordered_spans *ordered = argument;
    return spans_task(context, ordered->next, &ordered->all);
}

/* Writes all values in an order in which the last value for an element wins. Positions along a dimension in which the
 * result has a stride are different elements, so parts of it can be written in parallel: whole rows, or columns of rows
 * that have one index each. Otherwise, if there are many threads and a large result, each task writes a range of the
 * axis and skips values for other positions; if not, one thread writes all values. */
static lw_status put_spans(lw_context *context, const lw_layout *layout, const void *const *inputs,
                           void *const *outputs, const lw_scalar *parameters, span_function *function,
                           span_function *range_function) {
    ordered_spans ordered = {.all = all_spans(layout, inputs, 2, outputs, parameters, function)};
    int64_t most = 1, tasks = context->tasks, threads = context->threads;
    for (int32_t d = 0; HAS_THREADS && d < layout->ndim && most < tasks; d++) {
        int is_last = d == layout->ndim - 1;
        int64_t extent = layout->shape[d], unit = is_last ? PUT_LINE : 1;
        if (layout->strides[2][d] != 0 && extent / unit > most) {
            most = extent / unit;
            ordered.dim = d;
            /* Each part repeats the work per index, so rows are cut into only one part per thread. */
            ordered.per_part = round_up(divide_up(extent, is_last ? threads : tasks), unit);
        }
    }
    if (HAS_THREADS && ordered.per_part > 0) {
        PATH_IF(HAS_THREADS, "put: in parts");
        return run_tasks(context, divide_up(layout->shape[ordered.dim], ordered.per_part), put_part, &ordered);
    }
    int64_t extent = parameters[0].i, stride = parameters[1].i;
    if (HAS_THREADS && threads >= PUT_RANGES_MIN_THREADS && extent >= PUT_LINE * threads && extent <= INT32_MAX &&
        extent * (stride < 0 ? -stride : stride) > PUT_RANGES_MIN_BYTES) {
        PATH_IF(HAS_THREADS, "put: by ranges of the axis");
        ordered.all.function = range_function;
        ordered.per_part = round_up(divide_up(extent, threads), PUT_LINE);
        return run_tasks(context, divide_up(extent, ordered.per_part), put_range, &ordered);
    }
    PATH("put: in order");
    ordered.all.per_task = PUT_SERIAL_ITEMS;
    lw_status status = LW_OK;
    for (; ordered.next * PUT_SERIAL_ITEMS < ordered.all.total && status == LW_OK; ordered.next++) {
        status = run_interruptible(context, put_next, &ordered);
    }
    return status;
}

/* The tasks below have spans of rows: their layout leaves out its last dimension, along which the rows are.
 *
 * Task: takes few elements of each of many rows, one after the other from a block of rows. */
static lw_status take_columns_task(lw_context *context, int64_t task, const void *argument) {
    const spans *all = argument;
    int32_t last = all->layout->ndim;
    span_iterator it;
    span rows;
    for (span_start(&it, all, 3, task); span_next(&it, &rows);) {
        for (int64_t first = 0; first < rows.count; first += TAKE_ROWS) {
            span column = rows;
            column.count = min_int64(rows.count - first, TAKE_ROWS);
            for (int64_t c = 0; c < all->layout->shape[last]; c++) {
                for (int32_t o = 0; o < 3; o++) {
                    column.data[o] = rows.data[o] + first * rows.step[o] + c * all->layout->strides[o][last];
                }
                all->function(&column, all->parameters);
            }
        }
    }
    return LW_OK;
}

/* Task: takes the elements at the same positions from each row. */
INLINE lw_status take_same(const spans *all, int64_t task, int size) {
    int32_t last = all->layout->ndim;
    int64_t offsets[TAKE_SAME], count = all->layout->shape[last], step = all->layout->strides[2][last];
    for (int64_t i = 0; i < count; i++) {
        const char *index = all->data[1] + i * all->layout->strides[1][last];
        offsets[i] = gather_position(index, all->parameters[0].i) * all->parameters[1].i;
    }
    span_iterator it;
    span rows;
    for (span_start(&it, all, 3, task); span_next(&it, &rows);) {
        const char *from = rows.data[0];
        char *to = rows.data[2];
        for (int64_t row = 0; row < rows.count; row++, from += rows.step[0], to += rows.step[2]) {
            for (int64_t i = 0; i < count; i++) {
                __builtin_memcpy(to + i * step, from + offsets[i], (size_t)size);
            }
        }
    }
    return LW_OK;
}

/* Task: takes whole rows of contiguous elements, by one index each. */
static lw_status take_rows_task(lw_context *context, int64_t task, const void *argument) {
    const spans *all = argument;
    int32_t last = all->layout->ndim;
    int64_t extent = all->parameters[0].i, stride = all->parameters[1].i;
    int64_t size = all->layout->shape[last] * all->layout->strides[2][last];
    span_iterator it;
    span rows;
    for (span_start(&it, all, 3, task); span_next(&it, &rows);) {
        const char *x = rows.data[0], *index = rows.data[1];
        char *to = rows.data[2];
        int64_t index_step = rows.step[1];
        for (int64_t row = 0; row < rows.count; row++, index += index_step) {
            if (row + TAKE_AHEAD < rows.count) {
                int64_t position = gather_position(index + TAKE_AHEAD * index_step, extent);
                const char *next = x + TAKE_AHEAD * rows.step[0] + position * stride;
                for (int64_t at = 0; at < size && at < TAKE_LINES * 64; at += 64) {
                    __builtin_prefetch(next + at);
                }
            }
            copy_bytes(to, x + gather_position(index, extent) * stride, size);
            x += rows.step[0];
            to += rows.step[2];
        }
    }
    return LW_OK;
}

/* The kernels of take. Short rows have loops of their own, because a span takes as long as copying 500 bytes. */
static lw_status take_spans(lw_context *context, const lw_layout *layout, const void *const *inputs,
                            void *const *outputs, const lw_scalar *parameters, span_function *function,
                            lw_task *same_task, int size) {
    lw_status status = gather_check(context, layout, inputs[1], parameters);
    if (status != LW_OK) {
        return status;
    }
    int32_t last = layout->ndim - 1;
    spans all = all_spans(layout, inputs, 2, outputs, parameters, function);
    int64_t columns = last > 0 ? layout->shape[last] : 0, line = last > 0 ? layout->shape[last - 1] : 0;
    if (all.total == 0 || last < 1) {
        return run_spans(context, layout, inputs, 2, outputs, parameters, function);
    }
    const int64_t *steps[] = {layout->strides[0], layout->strides[1], layout->strides[2]};
    int is_same = 1; /* whether all rows have the same indices */
    for (int32_t d = 0; d < last; d++) {
        is_same &= steps[1][d] == 0;
    }
    lw_task *task = NULL;
    if (steps[1][last] == 0 && steps[0][last] == size && steps[2][last] == size) {
        PATH("take: rows");
        task = take_rows_task;
    } else if (steps[1][last] != 0 && columns <= TAKE_FEW && line > TAKE_FEW) {
        PATH("take: few indices of many rows");
        task = take_columns_task;
    } else if (!IS_DOWNLOADED && is_same && steps[0][last] == 0 && columns <= TAKE_SAME && all.total >= 4 * columns) {
        PATH_IF(!IS_DOWNLOADED, "take: the same indices of each row");
        task = same_task;
    } else {
        return run_spans(context, layout, inputs, 2, outputs, parameters, function);
    }
    all.per_task = divide_up(items_per_task(context, all.total, SPAN_UNIT), columns);
    all.total /= columns;
    lw_layout rows = *layout;
    rows.ndim--;
    all.layout = &rows;
    return run_tasks(context, divide_up(all.total, all.per_task), task, &all);
}

/* Defines the kernel lw_take_bits<bits>. */
#define TAKE(bits)                                                                                                     \
    static void take_span_##bits(const span *p, const lw_scalar *parameters) {                                         \
        gather_span(p, parameters, 0, bits / 8);                                                                       \
    }                                                                                                                  \
    static lw_status take_same_##bits(lw_context *context, int64_t task, const void *argument) {                       \
        return take_same(argument, task, bits / 8);                                                                    \
    }                                                                                                                  \
    KERNEL(take_bits##bits) {                                                                                          \
        return take_spans(context, layout, inputs, outputs, parameters, take_span_##bits, take_same_##bits, bits / 8); \
    }

/* Defines the kernel lw_put_bits<bits>. If several indices are equal, the last value wins. */
#define PUT(bits)                                                                       \
    static void put_span_##bits(const span *p, const lw_scalar *parameters) {           \
        gather_span(p, parameters, 2, bits / 8);                                        \
    }                                                                                   \
    static void put_range_span_##bits(const span *p, const lw_scalar *parameters) {     \
        put_range_span(p, parameters, bits / 8);                                        \
    }                                                                                   \
    KERNEL(put_bits##bits) {                                                            \
        lw_status status = gather_check(context, layout, inputs[1], parameters);        \
        if (status != LW_OK) return status;                                             \
        return put_spans(context, layout, inputs, outputs, parameters, put_span_##bits, \
                         HAS_THREADS ? put_range_span_##bits : NULL);                   \
    }
