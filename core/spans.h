/* Cuts a layout into spans along its last dimension and divides them into tasks. */
#pragma once

#include "layout_iterator.h"
#include "stream.h"

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

static lw_status spans_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const spans *all = argument;
    const lw_layout *layout = all->layout;
    int32_t last = layout->ndim - 1;
    int64_t length = last < 0 ? 1 : layout->shape[last];
    int64_t position = task * all->per_task, end = min_int64(position + all->per_task, all->total);
    int64_t at = position % length;
    PATH_IF(at > 0, "spans: a task begins within a row");
    layout_iterator it;
    iterator_start(&it, layout, 0, last < 0 ? 0 : last, all->operands, position / length);
    for (; position < end; at = 0, iterator_next(&it)) {
        span p = {.position = position, .count = min_int64(length - at, end - position), .streamed = all->streamed};
        for (int32_t o = 0; o < all->operands; o++) {
            p.step[o] = last < 0 ? 0 : layout->strides[o][last];
            p.data[o] = all->data[o] + it.offset[o] + at * p.step[o];
        }
        all->function(&p, all->parameters);
        position += p.count;
    }
    return LW_OK;
}

/* Describes all spans as one task. Operands are the inputs, then one output. */
static spans all_spans(const lw_layout *layout, const void *const *inputs, int32_t input_count, void *const *outputs,
                       const lw_scalar *parameters, span_function *function) {
    spans all = {.layout = layout, .operands = input_count + 1, .parameters = parameters, .function = function};
    for (int32_t i = 0; i < input_count; i++) {
        all.data[i] = (char *)inputs[i];
    }
    all.data[input_count] = outputs[0];
    all.per_task = all.total = layout_count(layout, 0, layout->ndim);
    return all;
}

/* Calls `function` for all spans; tasks can run in any order and in parallel. */
static lw_status run_spans(lw_context *context, const lw_layout *layout, const void *const *inputs, int32_t input_count,
                           void *const *outputs, const lw_scalar *parameters, span_function *function) {
    spans all = all_spans(layout, inputs, input_count, outputs, parameters, function);
    if (layout->ndim == 1) {
        all.streamed = stream_pays(context, all.total * layout->strides[input_count][0]);
    }
    all.per_task = items_per_task(context, all.total, SPAN_UNIT);
    return run_tasks(context, divide_up(all.total, all.per_task), spans_task, &all);
}
