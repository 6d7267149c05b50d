/* Search kernels: find the position of each element of x2 in the sorted row x1, which is how many elements of x1 are
 * before it.
 *
 * The layout is that of x2 and the result; every element is searched for in the same x1. Parameters: the length of x1,
 * its stride in bytes, and whether the position is after equal elements. Elements are compared by their keys
 * (index_reduction.h): NaN is the largest, and -0 equals 0.
 *
 * Binary search without branches: all lanes halve their ranges together, in several vectors at a time, so that their
 * cache misses overlap.
 *
 * core/ops/<op>.h defines the kernel lw_<op>_<dtype> with the macro SEARCH. */
#pragma once

#include "layout/spans.h"
#include "layout/strided.h"
#include "reduce/index_reduction.h"

enum {
    SEARCH_VECTORS = LANES < 16 ? 16 / LANES : 1, /* vectors of elements that are searched for together */
    SEARCH_ELEMENTS = SEARCH_VECTORS * LANES
};

/* Replaces SEARCH_ELEMENTS elements by their positions in the row. */
INLINE void search_positions(const char *row, const lw_scalar *parameters, element_bits *elements) {
    int32_t length = (int32_t)parameters[0].i;
    int64_t step = parameters[1].i;
    vmask is_after = m_set(parameters[2].i != 0);
    vbits target[SEARCH_VECTORS], position[SEARCH_VECTORS];
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        target[v] = choice_key_of(v_from_bits(b_load(elements + v * LANES)));
        position[v] = b_set(0);
    }
    /* Invariant: the result is in position .. position + length. If the middle element comes before the target,
     * skips the elements before the middle and, if the length is odd, the middle element, too. */
    while (length > 0) {
        int32_t half = length / 2;
        for (int v = 0; v < SEARCH_VECTORS; v++) {
            vbits middle = choice_key_of(v_from_bits(b_gather(row + half * step, step, position[v])));
            vmask before = m_or(b_lt(middle, target[v]), m_and(is_after, b_eq(middle, target[v])));
            position[v] += b_and((vbits)before, b_set(length - half));
        }
        length = half;
    }
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        b_store(elements + v * LANES, position[v]);
    }
}

static void search_span(const span *p, const lw_scalar *parameters) {
    element_bits elements[SEARCH_ELEMENTS] = {0};
    for (int64_t i = 0; i < p->count; i += SEARCH_ELEMENTS) {
        int64_t count = min_int64(p->count - i, SEARCH_ELEMENTS);
        PATH_EITHER(count == SEARCH_ELEMENTS, "search: all elements of a group", "search: some elements of a group");
        copy_strided((char *)elements, sizeof *elements, p->data[1] + i * p->step[1], p->step[1], count,
                     sizeof *elements);
        search_positions(p->data[0], parameters, elements);
        copy_strided(p->data[3] + i * p->step[3], p->step[3], (const char *)elements, sizeof *elements, count,
                     sizeof(int32_t)); /* the low half of a position in 64 bits */
    }
}

/* Defines the kernel lw_<op>_<dtype>. Operands: x1, x2, the sorter and the result. The kernel ignores the sorter: the
 * host has already reordered x1 by it. */
#define SEARCH(op) \
    ELEMENT_KERNEL(op) { return run_spans(context, layout, inputs, 3, outputs, parameters, search_span); }
