/* Creation kernels: they compute each element from its position in row-major order.
 *
 * core/ops/<op>.h defines a span_function <op>_span and, by the macro CREATION, the kernel lw_<op>_<dtype> that calls
 * it. */
#pragma once

#include "element.h"
#include "layout/layout_iterator.h"
#include "layout/spans.h"
#include "layout/strided.h"

#define CREATION(op) \
    ELEMENT_KERNEL(op) { return run_spans(context, layout, inputs, 0, outputs, parameters, op##_span); }
