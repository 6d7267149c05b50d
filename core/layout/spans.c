#include "layout/spans.h"

#include "layout/stream.h"

lw_status spans_task(lw_context *context, int64_t task, const void *argument) {
    const spans *all = argument;
    span_iterator it;
    span p;
    for (span_start(&it, all, all->operands, task); span_next(&it, &p);) {
        all->function(&p, all->parameters);
    }
    return LW_OK;
}

spans all_spans(const lw_layout *layout, const void *const *inputs, int32_t input_count, void *const *outputs,
                const lw_scalar *parameters, span_function *function) {
    spans all = {.layout = layout, .operands = input_count + 1, .parameters = parameters, .function = function};
    for (int32_t i = 0; i < input_count; i++) {
        all.data[i] = (char *)inputs[i];
    }
    all.data[input_count] = outputs[0];
    all.per_task = all.total = layout_count(layout, 0, layout->ndim);
    return all;
}

lw_status run_spans(lw_context *context, const lw_layout *layout, const void *const *inputs, int32_t input_count,
                    void *const *outputs, const lw_scalar *parameters, span_function *function) {
    spans all = all_spans(layout, inputs, input_count, outputs, parameters, function);
    if (layout->ndim == 1) {
        all.streamed = stream_pays(context, all.total * layout->strides[input_count][0]);
    }
    all.per_task = items_per_task(context, all.total, SPAN_UNIT);
    return run_tasks(context, divide_up(all.total, all.per_task), spans_task, &all);
}
