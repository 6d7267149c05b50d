/* Creation kernels: they compute each element from its position in row-major order.
 *
 * core/ops/<op>.h defines, for each dtype, a span_function <op>_span_<dtype> and, by the macro CREATION, the kernel
 * lw_<op>_<dtype> that calls it; the generated kernels.c includes that header and lists the kernel in its table. */
#pragma once

#include "layout/spans.h"
#include "layout/strided.h"

#define CREATION(op, dtype) \
    KERNEL(op##_##dtype) { return run_spans(context, layout, inputs, 0, outputs, parameters, op##_span_##dtype); }
