/* Where elements belong in a sorted row: how many of its elements come before each.
 *
 * The layout walks x2 and the result; x1, the row, does not move. parameters: how many elements x1 has, the bytes from
 * one to the next, and whether the place is behind equal elements. Elements are compared by the keys of
 * index_reduction.h: NaN is the largest, -0 equals 0.
 *
 * All lanes halve their ranges together, without a branch, and several vectors at a time, so that the loads of one
 * search wait beside those of the others.
 *
 * core/ops/<op>.h defines the kernels lw_<op>_<dtype> with SEARCH; kernels.c includes it and names them in the table. */
#pragma once

#include "index_reduction.h"
#include "spans.h"
#include "strided.h"

enum {
    SEARCH_VECTORS = VF32_LANES < 16 ? 16 / VF32_LANES : 1, /* at a time */
    SEARCH_ELEMENTS = SEARCH_VECTORS * VF32_LANES
};

typedef vi32 search_key(vi32 bits);
INLINE vi32 search_key_int32(vi32 bits) { return bits; }
INLINE vi32 search_key_float32(vi32 bits) { return choice_key_float32(vf32_from_bits(bits)); }

/* The places of a full set of elements, in their stead. */
INLINE void search_places(const char *row, const lw_scalar *parameters, int32_t *elements, search_key *key) {
    int32_t length = (int32_t)parameters[0].i;
    int64_t step = parameters[1].i;
    vm32 behind = vm32_set(parameters[2].i != 0);
    vi32 wanted[SEARCH_VECTORS], place[SEARCH_VECTORS];
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        wanted[v] = key(vi32_load(elements + v * VF32_LANES));
        place[v] = vi32_set(0);
    }
    /* Of `length` elements from each lane's place on it is not known yet whether they come before. If the middle one
     * does, so do those in front of it; of an even number it is asked about again. */
    while (length > 0) {
        int32_t half = length / 2;
        for (int v = 0; v < SEARCH_VECTORS; v++) {
            vi32 found = key(vi32_gather(row + half * step, step, place[v]));
            vm32 before = vm32_or(vi32_lt(found, wanted[v]), vm32_and(behind, vi32_eq(found, wanted[v])));
            place[v] += vi32_and((vi32)before, vi32_set(length - half));
        }
        length = half;
    }
    for (int v = 0; v < SEARCH_VECTORS; v++) {
        vi32_store(elements + v * VF32_LANES, place[v]);
    }
}

INLINE void search_span(const span *p, const lw_scalar *parameters, search_key *key) {
    int32_t elements[SEARCH_ELEMENTS];
    for (int i = 0; i < SEARCH_ELEMENTS; i++) {
        elements[i] = 0;
    }
    if (parameters[0].i == 0) { /* nothing to look at */
        for (int64_t i = 0; i < p->count; i++) {
            __builtin_memcpy(p->data[3] + i * p->step[3], elements, sizeof *elements);
        }
        return;
    }
    for (int64_t i = 0; i < p->count; i += SEARCH_ELEMENTS) {
        int64_t count = min_int64(p->count - i, SEARCH_ELEMENTS);
        copy_strided((char *)elements, sizeof *elements, p->data[1] + i * p->step[1], p->step[1], count,
                     sizeof *elements);
        search_places(p->data[0], parameters, elements, key);
        copy_strided(p->data[3] + i * p->step[3], p->step[3], (const char *)elements, sizeof *elements, count,
                     sizeof *elements);
    }
}

/* Defines the kernel lw_<op>_<dtype>. Operands: x1, x2, the sorter, which the host has applied, and the result. */
#define SEARCH(op, dtype)                                                                                  \
    static void op##_span_##dtype(const span *p, const lw_scalar *parameters) {                            \
        search_span(p, parameters, search_key_##dtype);                                                    \
    }                                                                                                      \
    static lw_status lw_##op##_##dtype(lw_context *context, const void *layout, const void *const *inputs, \
                                       void *const *outputs, const lw_scalar *parameters) {                \
        return run_spans(context, layout, inputs, 3, outputs, parameters, 0, op##_span_##dtype);           \
    }
