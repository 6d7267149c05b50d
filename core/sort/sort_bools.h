/* Sorts a row of bools by counting: counts the true elements, then writes the result. Included by sorting.h. */
#pragma once

#include "sort/radix_sort.h"

typedef struct sort_bools_state {
    const sort_row *row;
    /* while counting, the number of true elements; while writing, the number of elements whose value sorts first */
    int64_t firsts;
} sort_bools_state;

static void sort_count_true(void *argument, int64_t begin, int64_t end) {
    sort_bools_state *state = argument;
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++) {
        count += state->row->x[i * state->row->x_stride];
    }
    __atomic_fetch_add(&state->firsts, count, __ATOMIC_RELAXED);
}

static void sort_write_bools(void *argument, int64_t begin, int64_t end) {
    const sort_bools_state *state = argument;
    const sort_row *s = state->row;
    for (int64_t i = begin; i < end; i++) {
        s->out[i * s->out_stride] = (char)((i < state->firsts) == (s->flip != 0));
    }
}

static size_t sort_scratch_bytes(const lw_context *context, const sort_row *s) { return 0; }

static lw_status sort_one_row(lw_context *context, const sort_row *s, void *scratch) {
    PATH("sort: counts bools");
    sort_bools_state state = {.row = s};
    lw_status status = sort_in_blocks(context, s->length, sort_count_true, &state);
    if (!s->flip) {
        state.firsts = s->length - state.firsts;
    }
    return status == LW_OK ? sort_in_blocks(context, s->count, sort_write_bools, &state) : status;
}
