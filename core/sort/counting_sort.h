/* The keys of a row of numbers and their range; and a sort of integers in a small range, which counts how often each
 * occurs: one pass counts, one writes the results. Included by sort_numbers.h.
 *
 * Source: Knuth, The Art of Computer Programming 3, 5.2 (distribution counting). */
#pragma once

#include "layout/strided.h"
#include "reduce/index_reduction.h"
#include "sort/radix_sort.h"

enum { SORT_VALUES = 256 /* that are counted, at most */ };

#ifdef IS_64BIT
typedef uint64_t sort_key;
#else
typedef uint32_t sort_key;
#endif

/* Computes the keys of elements first .. first + count - 1. Writes up to one vector beyond the last key. */
static void sort_keys(const sort_row *s, int64_t first, int64_t count, element_bits *keys) {
    copy_strided((char *)keys, sizeof *keys, s->x + first * s->x_stride, s->x_stride, count, sizeof *keys);
    for (int64_t i = 0; i < count; i += LANES) {
        vbits key = b_load(keys + i);
        b_store(keys + i, b_xor(choice_key_of(v_from_bits(key)), b_set(s->flip)));
    }
}

/* Writes result number `rank`: element `index` of the row, or its position. */
INLINE void sort_write(const sort_row *s, int64_t rank, int32_t index) {
    char *to = s->out + rank * s->out_stride;
    if (s->gives_indices) {
        __builtin_memcpy(to, &index, sizeof index);
    } else {
        __builtin_memcpy(to, s->x + index * s->x_stride, ELEMENT_SIZE);
    }
}

/* The keys of a row that exceed none and all others. */
typedef struct sort_range {
    const sort_row *row;
    element_bits least, largest;
} sort_range;

static void sort_extend_range(void *argument, int64_t begin, int64_t end) {
    sort_range *range = argument;
    element_bits keys[SORT_CHUNK];
    sort_keys(range->row, begin, end - begin, keys);
    for (int64_t i = end - begin; i % LANES; i++) {
        keys[i] = keys[0];
    }
    vbits least = b_set(range->least), largest = b_set(range->largest);
    for (int64_t i = 0; i < end - begin; i += LANES) {
        least = b_minimum(least, b_load(keys + i));
        largest = b_maximum(largest, b_load(keys + i));
    }
    for (int n = LANES / 2; n; n /= 2) {
        least = b_minimum(least, b_slide_down(least, n));
        largest = b_maximum(largest, b_slide_down(largest, n));
    }
    range->least = b_first(least);
    range->largest = b_first(largest);
}

static lw_status sort_find_range(lw_context *context, const sort_row *s, sort_range *range) {
    *range = (sort_range){s, BITS_MAX, BITS_MIN};
    return sort_in_order(context, s->length, sort_extend_range, range);
}

#if !IS_FLOATING
/* A sort that counts keys, each as what it exceeds the least key by. `ends` has the rank after the last element with
 * each key or a lower one. */
typedef struct sort_counting {
    const sort_row *row;
    element_bits least;
    int value; /* that is written next */
    uint32_t counts[4][SORT_VALUES], next[SORT_VALUES], ends[SORT_VALUES];
} sort_counting;

static void sort_count_keys(void *argument, int64_t begin, int64_t end) {
    sort_counting *state = argument;
    element_bits keys[SORT_CHUNK];
    sort_keys(state->row, begin, end - begin, keys);
    sort_key least = (sort_key)state->least;
    for (int64_t i = 0; i < end - begin; i++) { /* four counters, since equal keys are often neighbors */
        state->counts[i % 4][(sort_key)keys[i] - least]++;
    }
}

static void sort_write_positions(void *argument, int64_t begin, int64_t end) {
    sort_counting *state = argument;
    const sort_row *s = state->row;
    element_bits keys[SORT_CHUNK];
    sort_keys(s, begin, end - begin, keys);
    uint32_t *next = state->next;
    sort_key least = (sort_key)state->least;
    int64_t count = s->count, step = s->out_stride;
    char *out = s->out;
    for (int64_t i = begin; i < end; i++) {
        int64_t rank = next[(sort_key)keys[i - begin] - least]++;
        if (rank < count) {
            int32_t position = (int32_t)i;
            __builtin_memcpy(out + rank * step, &position, sizeof position);
        }
    }
}

static void sort_write_runs(void *argument, int64_t begin, int64_t end) {
    sort_counting *state = argument;
    const sort_row *s = state->row;
    element_bits values[SORT_CHUNK + LANES];
    for (int64_t i = begin; i < end; state->value += i < end) {
        element_bits key = (element_bits)((sort_key)state->least + (sort_key)state->value) ^ s->flip;
        vbits value = choice_ordered(b_set(key));
        int64_t stop = min_int64(end, state->ends[state->value]);
        do { /* a whole vector, for a run that is shorter, too */
            b_store(values + i - begin, value);
            i += LANES;
        } while (i < stop);
        i = stop;
    }
    copy_strided(s->out + begin * s->out_stride, s->out_stride, (const char *)values, sizeof *values, end - begin,
                 sizeof *values);
}

/* Sorts a row whose keys are less than SORT_VALUES above the least one. */
static lw_status sort_by_counting(lw_context *context, const sort_row *s, element_bits least) {
    sort_counting state = {.row = s, .least = least};
    lw_status status = sort_in_order(context, s->length, sort_count_keys, &state);
    uint32_t end = 0;
    for (int value = 0; value < SORT_VALUES; value++) {
        state.next[value] = end;
        for (int i = 0; i < 4; i++) {
            end += state.counts[i][value];
        }
        state.ends[value] = end;
    }
    if (status != LW_OK) {
        return status;
    }
    return s->gives_indices ? sort_in_order(context, s->length, sort_write_positions, &state)
                            : sort_in_order(context, s->count, sort_write_runs, &state);
}
#endif
