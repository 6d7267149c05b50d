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
 * core/ops/<op>.h defines the kernels lw_<op>_<dtype> with the macro SEARCH; kernels.c includes that header and lists
 * the kernels in the table. */
#pragma once

#include "layout/spans.h"
#include "layout/strided.h"
#include "reduce/index_reduction.h"

enum {
    SEARCH_VECTORS = VF32_LANES < 16 ? 16 / VF32_LANES : 1, /* vectors of elements that are searched for together */
    SEARCH_ELEMENTS = SEARCH_VECTORS * VF32_LANES
};

typedef vi32 search_key(vi32 bits);
INLINE vi32 search_key_int32(vi32 bits) { return bits; }
INLINE vi32 search_key_float32(vi32 bits) { return choice_key_float32(vf32_from_bits(bits)); }

/* Replaces SEARCH_ELEMENTS elements by their positions in the row. */
INLINE void search_positions(const char *row, const lw_scalar *parameters, int32_t *elements, search_key *key) {
    int32_t length = (int32_t)parameters[0].i;
    int64_t step = parameters[1].i;
    vm32 is_after = vm32_set(parameters[2].i != 0);
    vi32 target[SEARCH_VECTORS], position[SEARCH_VECTORS];
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        target[v] = key(vi32_load(elements + v * VF32_LANES));
        position[v] = vi32_set(0);
    }
    /* Invariant: the result is in position .. position + length. If the middle element comes before the target,
     * skips the elements before the middle and, if the length is odd, the middle element, too. */
    while (length > 0) {
        int32_t half = length / 2;
        for (int v = 0; v < SEARCH_VECTORS; v++) {
            vi32 middle = key(vi32_gather(row + half * step, step, position[v]));
            vm32 before = vm32_or(vi32_lt(middle, target[v]), vm32_and(is_after, vi32_eq(middle, target[v])));
            position[v] += vi32_and((vi32)before, vi32_set(length - half));
        }
        length = half;
    }
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        vi32_store(elements + v * VF32_LANES, position[v]);
    }
}

INLINE void search_span(const span *p, const lw_scalar *parameters, search_key *key) {
    int32_t elements[SEARCH_ELEMENTS];
    for (int i = 0; i < SEARCH_ELEMENTS; i++) {
        elements[i] = 0;
    }
    if (parameters[0].i == 0) { /* an empty row */
        PATH("search: empty row");
        for (int64_t i = 0; i < p->count; i++) {
            __builtin_memcpy(p->data[3] + i * p->step[3], elements, sizeof *elements);
        }
        return;
    }
    for (int64_t i = 0; i < p->count; i += SEARCH_ELEMENTS) {
        int64_t count = min_int64(p->count - i, SEARCH_ELEMENTS);
        PATH_EITHER(count == SEARCH_ELEMENTS, "search: all elements of a group", "search: some elements of a group");
        copy_strided((char *)elements, sizeof *elements, p->data[1] + i * p->step[1], p->step[1], count,
                     sizeof *elements);
        search_positions(p->data[0], parameters, elements, key);
        copy_strided(p->data[3] + i * p->step[3], p->step[3], (const char *)elements, sizeof *elements, count,
                     sizeof *elements);
    }
}

/* Defines the kernel lw_<op>_<dtype>. Operands: x1, x2, the sorter and the result. The kernel ignores the sorter: the
 * host has already reordered x1 by it. */
#define SEARCH(op, dtype)                                                       \
    static void op##_span_##dtype(const span *p, const lw_scalar *parameters) { \
        search_span(p, parameters, search_key_##dtype);                         \
    }                                                                           \
    KERNEL(op##_##dtype) { return run_spans(context, layout, inputs, 3, outputs, parameters, op##_span_##dtype); }
