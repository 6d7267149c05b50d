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

/* Computes whole vectors of contiguous elements, and returns their number. Sums of integers wrap, so that their lower
 * bits suffice. */
static int64_t arange_vectors(const span *p, arange_wide start, arange_wide step) {
    int64_t i = 0;
#if IS_FLOATING
    double iota[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        iota[lane] = (double)(p->position + lane);
    }
    vdouble at = d_load(iota), first = d_set(start), each = d_set(step), lanes = d_set(LANES);
    for (; i + LANES <= p->count; i += LANES, at += lanes) {
        v_store((element *)(p->data[0] + i * ELEMENT_SIZE), v_from_double(first + at * each));
    }
#else
    vbits lanes = b_set((element_bits)((uint64_t)step * LANES));
    vbits value = b_set((element_bits)((uint64_t)start + (uint64_t)p->position * (uint64_t)step));
    value += b_iota() * b_set((element_bits)step);
    for (; i + LANES <= p->count; i += LANES, value += lanes) {
        b_store((element_bits *)(p->data[0] + i * ELEMENT_SIZE), value);
    }
#endif
    return i;
}

static void arange_span(const span *p, const lw_scalar *parameters) {
    arange_wide start = arange_number(parameters[0]), step = arange_number(parameters[1]);
    int64_t i = p->step[0] == ELEMENT_SIZE ? arange_vectors(p, start, step) : 0;
    for (; i < p->count; i++) {
        element value = (element)(start + (arange_wide)(p->position + i) * step);
        __builtin_memcpy(p->data[0] + i * p->step[0], &value, sizeof value);
    }
}

ELEMENT_KERNEL(arange) { return run_spans(context, layout, inputs, 0, outputs, parameters, arange_span); }
