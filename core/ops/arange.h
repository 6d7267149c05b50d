/* start + i * step, computed in double or int64 and then converted, so that errors do not grow with i.
 * parameters: start and step, in .f for floats and .i for integers. */
#pragma once

#include "element.h"
#include "layout/spans.h"

#if IS_FLOATING
typedef double arange_wide;
INLINE arange_wide arange_number(lw_scalar parameter) { return parameter.f; }
#else
typedef int64_t arange_wide;
INLINE arange_wide arange_number(lw_scalar parameter) { return parameter.i; }
#endif

static void arange_span(const span *p, const lw_scalar *parameters) {
    arange_wide start = arange_number(parameters[0]), step = arange_number(parameters[1]);
    for (int64_t i = 0; i < p->count; i++) {
        element value = (element)(start + (arange_wide)(p->position + i) * step);
        __builtin_memcpy(p->data[0] + i * p->step[0], &value, sizeof value);
    }
}

ELEMENT_KERNEL(arange) { return run_spans(context, layout, inputs, 0, outputs, parameters, arange_span); }
