/* Cuts a layout into spans along its last dimension and divides them into tasks. */
#pragma once

#include "layout/layout_iterator.h"

/* Elements that are equally spaced in every operand. */
typedef struct span {
    int64_t position; /* index of the first element, in row-major order */
    int64_t count;
    char *data[LW_MAX_OPERANDS];
    int64_t step[LW_MAX_OPERANDS];
    int streamed; /* the result is larger than the caches: streaming stores, followed by stream_end(), are faster */
} span;

typedef void span_function(const span *p, const lw_scalar *parameters);

typedef struct spans {
    const lw_layout *layout;
    int32_t operands;
    char *data[LW_MAX_OPERANDS];
    const lw_scalar *parameters;
    span_function *function;
    int64_t total, per_task;
    int streamed;
} spans;

/* Tasks have a multiple of this many elements. Equal to RANDOM_WORDS (random.h), so that rand wastes no words. */
enum { SPAN_UNIT = 256 };

/* Iterates over the spans of a task: one per row, or part of a row at the task's ends. */
typedef struct span_iterator {
    const spans *all;
    layout_iterator rows;
    int64_t position, end; /* of the next span, and of the task, in row-major order */
    int64_t at;            /* where in its row the next span begins */
} span_iterator;

/* Begins with a task's first span. `operands` is all->operands: where it is a constant, compilers unroll the loops over
 * operands, which short rows need. */
static inline void span_start(span_iterator *it, const spans *all, int32_t operands, int64_t task) {
    const lw_layout *layout = all->layout;
    int32_t last = layout->ndim - 1;
    int64_t length = last < 0 ? 1 : layout->shape[last];
    it->all = all;
    it->position = task * all->per_task;
    it->end = min_int64(it->position + all->per_task, all->total);
    it->at = it->position % length;
    PATH_IF(it->at > 0, "spans: a task begins within a row");
    iterator_start(&it->rows, layout, 0, last < 0 ? 0 : last, operands, it->position / length);
}

/* Sets `p` to the next span. Returns 0 if there is none. */
static inline int span_next(span_iterator *it, span *p) {
    if (it->position >= it->end) {
        return 0;
    }
    const spans *all = it->all;
    const lw_layout *layout = all->layout;
    int32_t last = layout->ndim - 1;
    int64_t length = last < 0 ? 1 : layout->shape[last];
    p->position = it->position;
    p->count = min_int64(length - it->at, it->end - it->position);
    p->streamed = all->streamed;
    for (int32_t o = 0; o < it->rows.operands; o++) {
        p->step[o] = last < 0 ? 0 : layout->strides[o][last];
        p->data[o] = all->data[o] + it->rows.offset[o] + it->at * p->step[o];
    }
    it->position += p->count;
    it->at = 0;
    iterator_next(&it->rows);
    return 1;
}

lw_status spans_task(lw_context *context, int64_t task, const void *argument);

/* Describes all spans as one task. Operands are the inputs, then one output. */
spans all_spans(const lw_layout *layout, const void *const *inputs, int32_t input_count, void *const *outputs,
                const lw_scalar *parameters, span_function *function);

/* Calls `function` for all spans; tasks can run in any order and in parallel. */
lw_status run_spans(lw_context *context, const lw_layout *layout, const void *const *inputs, int32_t input_count,
                    void *const *outputs, const lw_scalar *parameters, span_function *function);
