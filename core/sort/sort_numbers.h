/* Sorts a row of numbers. Included by sorting.h.
 *
 * Elements are compared by integer keys (index_reduction.h), which descending sorts invert; the quicksort of values
 * compares floats, with their signs flipped in descending sorts. The algorithm depends on the row:
 *   up to SORT_BESIDE elements    Values of many rows: a sorting network for rows side by side (sort_beside.h).
 *   up to SORT_SHORT elements     Rank sort: compares each element with all others, one lane per element. Quicksort, if
 *                                 there is one, takes its place for values of more than SORT_RANKED elements, and for
 *                                 positions of more than twice as many.
 *   longer rows, few values       Integers in a small range: counts how often each value occurs (counting_sort.h); but
 *                                 quicksort, if there is one, for positions of fewer than SORT_COUNTED elements.
 *   longer rows                   LSD radix sort of (key, position) pairs, digits of 8 bits.
 *   longer rows, few results      Selection: collects elements that sort before the last result kept so far;
 *                                 when the buffer is full, radix-sorts it and keeps the first results.
 *   longer rows, values only      LSD radix sort of the keys without positions, if the keys identify the values: no
 *                                 element is NaN or -0.
 * Radix sort (radix_sort.h) is not vectorized on any instruction set; it moves each element once per digit, up to four
 * or eight times. Where a vector can be partitioned, and few threads would share the radix sort, quicksort
 * (quick_sort.h) takes its place, except in selection, unless it gives up. It sorts a pair as an integer of 64 bits: a
 * prefix of the key, and the position. Pairs with the same prefix are put in order afterwards.
 * Source: Knuth, The Art of Computer Programming 3, 5.2 (comparison counting).
 */
#pragma once

#include "sort/counting_sort.h"
#include "sort/quick_sort.h"

enum {
    /* Longest row for rank sort, whose time grows with length^2 / lanes. Measured on Zen 5, 2026-11. */
    SORT_SHORT = LANES >= 8 ? 128
    : LANES > 1             ? 64
                            : 32,
    SORT_RANKED = SIMD_PARTITION ? 16 : SORT_SHORT,
    SORT_COUNTED = 1024, /* measured on Zen 4, 2026-12 */
    SORT_FEW = 256,      /* candidates, at least, beside the results of a selection */
    SORT_MIN_PART = 4    /* selection is divided into parts with at least this many times as many elements as
                        * candidates */
};

/* Rank sort. The rank of an element is the number of smaller elements plus the number of equal elements before it. */
static void sort_by_rank(const sort_row *s) {
    element_bits keys[SORT_SHORT + LANES], ranks[SORT_SHORT + LANES];
    int32_t length = (int32_t)s->length;
    sort_keys(s, 0, length, keys);
    for (int32_t i = 0; i < length; i += LANES) {
        vbits own = b_load(keys + i), rank = b_set(0);
        int32_t j = 0, end = i + LANES < length ? i + LANES : length;
        for (; j < i; j++) {
            rank -= (vbits)b_le(b_set(keys[j]), own); /* a true lane is -1 */
        }
        for (; j < end; j++) {
            vmask is_before = b_gt(b_iota(), b_set(j - i));
            vbits other = b_set(keys[j]);
            rank -= (vbits)m_or(b_lt(other, own), m_and(is_before, b_eq(other, own)));
        }
        for (; j < length; j++) {
            rank -= (vbits)b_lt(b_set(keys[j]), own);
        }
        b_store(ranks + i, rank);
    }
    for (int32_t i = 0; i < length; i++) {
        if (ranks[i] < s->count) {
            sort_write(s, ranks[i], i);
        }
    }
}

#include "sort/sort_beside.h"

/* A pair of a key and a position. Pairs compare like their keys or, if keys are equal, like their positions. Keys in
 * pairs are unsigned. */
#ifdef IS_64BIT
typedef sort_pair_64 sort_pair;
#define sort_radix_keys sort_radix_keys_64
#define sort_radix_pairs sort_radix_pairs_64
INLINE sort_pair sort_pair_of(int64_t key, int64_t position) {
    return (sort_pair){(uint64_t)key ^ (uint64_t)INT64_MIN, (uint64_t)position};
}
INLINE int64_t sort_key_of(sort_pair pair) { return (int64_t)(pair.key ^ (uint64_t)INT64_MIN); }
INLINE int32_t sort_position_of(sort_pair pair) { return (int32_t)pair.position; }
#else
typedef sort_pair_32 sort_pair;
#define sort_radix_keys sort_radix_keys_32
#define sort_radix_pairs sort_radix_pairs_32
INLINE sort_pair sort_pair_of(int32_t key, int64_t position) {
    return (uint64_t)((uint32_t)key ^ 0x80000000u) << 32 | (uint64_t)position;
}
INLINE int32_t sort_key_of(sort_pair pair) { return (int32_t)((uint32_t)(pair >> 32) ^ 0x80000000u); }
INLINE int32_t sort_position_of(sort_pair pair) { return (int32_t)pair; }
#endif

typedef struct sort_pairs_state {
    const sort_row *row;
    sort_pair *pairs;
} sort_pairs_state;

static void sort_make_pairs(void *argument, int64_t begin, int64_t end) {
    const sort_pairs_state *state = argument;
    element_bits keys[SORT_CHUNK];
    sort_keys(state->row, begin, end - begin, keys);
    for (int64_t i = begin; i < end; i++) {
        state->pairs[i] = sort_pair_of(keys[i - begin], i);
    }
}

static void sort_write_pairs(void *argument, int64_t begin, int64_t end) {
    const sort_pairs_state *state = argument;
    for (int64_t i = begin; i < end; i++) {
        sort_write(state->row, i, sort_position_of(state->pairs[i]));
    }
}

/* Sorts a row by key and position, and writes the first s->count results. `pairs` and `spare` have room for the row. */
static lw_status sort_pairs(lw_context *context, const sort_row *s, sort_pair *pairs, sort_pair *spare) {
    sort_pairs_state state = {s, pairs};
    lw_status status = sort_in_blocks(context, s->length, sort_make_pairs, &state);
    if (status == LW_OK) {
        status = sort_radix_pairs(context, &state.pairs, &spare, s->length);
    }
    return status == LW_OK ? sort_in_blocks(context, s->count, sort_write_pairs, &state) : status;
}

/* A sort of prefixes of keys, each above its position. The prefix of a key is what it exceeds the least key by, without
 * the last `shift` bits. Items of 32 bits, if that is enough, have their highest bit inverted to compare as signed. */
typedef struct sort_prefixes {
    const sort_row *row;
    int64_t *items;
    int32_t *narrow; /* the same memory, or NULL for items of 64 bits */
    element_bits least;
    int shift, position_bits;
    int64_t moves; /* of items that have the same prefix as others */
} sort_prefixes;

static void sort_make_prefixes(void *argument, int64_t begin, int64_t end) {
    const sort_prefixes *state = argument;
    element_bits keys[SORT_CHUNK];
    sort_keys(state->row, begin, end - begin, keys);
    for (int64_t i = begin; state->narrow && i < end; i++) {
        uint32_t above = (uint32_t)keys[i - begin] - (uint32_t)state->least;
        state->narrow[i] = (int32_t)((above << state->position_bits | (uint32_t)i) ^ 0x80000000u);
    }
    for (int64_t i = begin; !state->narrow && i < end; i++) {
        sort_key above = (sort_key)keys[i - begin] - (sort_key)state->least;
        state->items[i] = (int64_t)(above >> state->shift) << state->position_bits | i;
    }
}

INLINE int64_t sort_prefix_position(const sort_prefixes *state, int64_t item) {
    return item & (((int64_t)1 << state->position_bits) - 1);
}

INLINE element_bits sort_prefix_key(const sort_prefixes *state, int64_t item) {
    element_bits key[LANES];
    sort_keys(state->row, sort_prefix_position(state, item), 1, key);
    return key[0];
}

/* Insertion sort, by their keys, of items with the same prefix. Gives up after as many moves as there are items. */
static void sort_order_prefixes(void *argument, int64_t begin, int64_t end) {
    sort_prefixes *state = argument;
    int64_t *items = state->items;
    for (int64_t i = begin > 0 ? begin : 1; i < end && state->moves < state->row->length; i++) {
        int64_t item = items[i];
        int64_t j = i;
        while (j > 0 && (items[j - 1] ^ item) >> state->position_bits == 0 &&
               sort_prefix_key(state, items[j - 1]) > sort_prefix_key(state, item)) {
            items[j] = items[j - 1];
            j--;
            state->moves++;
        }
        items[j] = item;
    }
}

static void sort_write_prefixes(void *argument, int64_t begin, int64_t end) {
    const sort_prefixes *state = argument;
    for (int64_t i = begin; i < end; i++) {
        int64_t item = state->narrow ? state->narrow[i] : state->items[i];
        sort_write(state->row, i, (int32_t)sort_prefix_position(state, item));
    }
}

/* Sorts a row by key and position, and writes the first s->count results, or clears *is_done if the sort gave up or too
 * many keys have the same prefix. */
static lw_status sort_by_prefix(lw_context *context, const sort_range *range, int64_t *items, int *is_done) {
    const sort_row *s = range->row;
    sort_prefixes state = {.row = s, .items = items, .least = range->least};
    state.position_bits = 64 - __builtin_clzll((uint64_t)s->length - 1);
    sort_key width = (sort_key)range->largest - (sort_key)range->least;
    int bits = width ? 64 - __builtin_clzll(width) : 0;
    state.shift = bits + state.position_bits > 63 ? bits + state.position_bits - 63 : 0;
    state.narrow = bits + state.position_bits <= 32 ? (int32_t *)items : NULL;
    PATH_EITHER(state.narrow, "sort: narrow items", "sort: wide items");
    lw_status status = sort_in_blocks(context, s->length, sort_make_prefixes, &state);
    if (status == LW_OK) {
        status = state.narrow ? quick_sort_int32(context, state.narrow, s->length, is_done)
                              : quick_sort_int64(context, items, s->length, is_done);
    }
    if (status == LW_OK && *is_done && state.shift > 0) {
        status = sort_in_order(context, s->length, sort_order_prefixes, &state);
        *is_done = state.moves < s->length;
        PATH_IF(!*is_done, "sort: too many keys with the same prefix");
    }
    return status == LW_OK && *is_done ? sort_in_blocks(context, s->count, sort_write_prefixes, &state) : status;
}

/* Returns how many candidates selection collects before it sorts them and keeps the first s->count: so many more that
 * it rarely sorts, but not many more than that, because most of the first ones are not kept. */
INLINE int64_t sort_candidates(const sort_row *s) {
    int64_t more = 2 * s->count > SORT_FEW ? 2 * s->count : SORT_FEW;
    return s->count + (s->count > SORT_CHUNK ? s->count : min_int64(more, SORT_CHUNK));
}

/* Returns whether selection is faster than a full sort. */
INLINE int sort_is_selected(const sort_row *s) {
    return s->length - s->count > (s->count > SORT_CHUNK ? s->count : SORT_CHUNK);
}

typedef struct sort_selection {
    const sort_row *row;
    sort_pair *pairs; /* candidates */
    int64_t held;     /* number of candidates */
    int64_t next;     /* the first element that has not been examined */
    int64_t end;      /* of the row, or of a part of it */
    int is_full;      /* whether the first row->count pairs are sorted; `limit` is then the key of the last of these */
    element_bits limit;
} sort_selection;

/* Collects candidates from up to SORT_BLOCK elements; returns early when there are enough to sort. Once `limit` is
 * known, candidates have smaller keys: an equal key is that of a later element, which sorts after those kept. */
static lw_status sort_collect(lw_context *context, int64_t task, const void *argument) {
    sort_selection *state = *(sort_selection *const *)argument;
    const sort_row *s = state->row;
    element_bits keys[SORT_CHUNK];
    int64_t end = min_int64(state->next + SORT_BLOCK, state->end), enough = sort_candidates(s), count;
    for (int64_t first = state->next; first < end; first += count) {
        count = min_int64(end - first, SORT_CHUNK);
        sort_keys(s, first, count, keys);
        for (int64_t i = 0; i < count; i += LANES) {
            if (state->is_full && !m_any(b_lt(b_load(keys + i), b_set(state->limit)))) {
                continue;
            }
            for (int64_t j = i; j < count && j < i + LANES; j++) {
                if (state->is_full && keys[j] >= state->limit) {
                    continue;
                }
                state->pairs[state->held++] = sort_pair_of(keys[j], first + j);
                if (state->held == enough) {
                    PATH("sort: buffer of candidates full");
                    state->next = first + j + 1;
                    return LW_OK;
                }
            }
        }
    }
    state->next = end;
    return LW_OK;
}

/* Finds the first row->count results among the elements from `next` to `end`. `spare` has as much room as
 * state->pairs, for sort_candidates() pairs. */
static lw_status sort_select(lw_context *context, sort_selection *state, sort_pair *spare) {
    const sort_row *s = state->row;
    lw_status status = LW_OK;
    while (state->next < state->end && status == LW_OK) {
        status = run_interruptible(context, sort_collect, &state);
        if (status == LW_OK && (state->held == sort_candidates(s) || state->next == state->end)) {
            status = sort_radix_pairs(context, &state->pairs, &spare, state->held);
            state->held = s->count;
            state->is_full = 1;
            state->limit = sort_key_of(state->pairs[s->count - 1]);
        }
    }
    return status;
}

static lw_status sort_select_in_row(lw_context *context, const sort_row *s, sort_pair *pairs, sort_pair *spare) {
    sort_selection state = {.row = s, .pairs = pairs, .end = s->length, .limit = BITS_MAX};
    lw_status status = sort_select(context, &state, spare);
    sort_pairs_state results = {s, state.pairs};
    return status == LW_OK ? sort_in_blocks(context, s->count, sort_write_pairs, &results) : status;
}

/* A selection that is divided among tasks. */
typedef struct sort_parts {
    const sort_row *row;
    int64_t parts;
    sort_pair *results; /* row->count pairs of each part, and as many more */
    sort_pair *scratch; /* 2 * sort_candidates() pairs for each part */
} sort_parts;

static lw_status sort_part_task(lw_context *context, int64_t task, const void *argument) {
    const sort_parts *all = argument;
    const sort_row *s = all->row;
    sort_pair *pairs = all->scratch + task * 2 * sort_candidates(s);
    sort_selection state = {.row = s, .pairs = pairs, .limit = BITS_MAX};
    state.next = task * s->length / all->parts;
    state.end = (task + 1) * s->length / all->parts;
    lw_status status = sort_select(context, &state, pairs + sort_candidates(s));
    if (status == LW_OK) {
        __builtin_memcpy(all->results + task * s->count, state.pairs, (size_t)s->count * sizeof *pairs);
    }
    return status;
}

/* Returns from how many parts of the row the results are selected. */
INLINE int64_t sort_part_count(const lw_context *context, const sort_row *s) {
    return HAS_THREADS && s->length >= SORT_DIVIDED
               ? min_int64(context->threads, s->length / (SORT_MIN_PART * sort_candidates(s)))
               : 1;
}

/* Finds and writes the first s->count results, on several threads. */
static lw_status sort_select_in_parts(lw_context *context, const sort_row *s, int64_t parts) {
    int64_t results = parts * s->count;
    size_t pairs = (size_t)(2 * results + parts * 2 * sort_candidates(s));
    sort_pair *memory = allocate_scratch(context, pairs * sizeof *memory);
    if (!memory) {
        return LW_NO_MEMORY;
    }
    PATH_IF(HAS_THREADS, "sort: selection in parts");
    sort_parts all = {s, parts, memory, memory + 2 * results};
    sort_pairs_state state = {s, memory};
    sort_pair *spare = memory + results;
    lw_status status = run_tasks(context, parts, sort_part_task, &all);
    if (status == LW_OK) {
        status = sort_radix_pairs(context, &state.pairs, &spare, results);
    }
    if (status == LW_OK) {
        status = sort_in_blocks(context, s->count, sort_write_pairs, &state);
    }
    release_scratch(context, memory);
    return status;
}

/* Keys that identify the values. Quicksort compares signed integers, or floats themselves; radix sort compares unsigned
 * integers. */
#if IS_FLOATING
#define sort_quick_values(context, keys, n, is_done) JOIN(quick_sort, ELEMENT)(context, (element *)(keys), n, is_done)
#else
#define sort_quick_values JOIN(quick_sort, BY_PRECISION(int32, int64))
#endif

typedef struct sort_values_state {
    const sort_row *row;
    element_bits *keys;
    element_bits flip;
    int is_float;     /* whether the keys are floats */
    int is_ambiguous; /* an element is NaN or -0, so its bits do not follow from its key */
} sort_values_state;

static void sort_make_value_keys(void *argument, int64_t begin, int64_t end) {
    sort_values_state *state = argument;
    const sort_row *s = state->row;
    element_bits *keys = state->keys;
    if (__atomic_load_n(&state->is_ambiguous, __ATOMIC_RELAXED)) {
        return;
    }
    copy_strided((char *)(keys + begin), sizeof *keys, s->x + begin * s->x_stride, s->x_stride, end - begin,
                 sizeof *keys);
    for (int64_t i = end; i % LANES; i++) {
        keys[i] = 0;
    }
    vmask ambiguous = m_set(0);
    for (int64_t i = begin; i < end; i += LANES) {
        vbits bits = b_load(keys + i);
        if (IS_FLOATING) {
            vec x = v_from_bits(bits);
            ambiguous |= v_ne(x, x) | b_eq(bits, b_set(BITS_MIN));
        }
        b_store(keys + i, b_xor(state->is_float ? bits : choice_ordered(bits), b_set(state->flip)));
    }
    if (m_any(ambiguous)) {
        __atomic_store_n(&state->is_ambiguous, 1, __ATOMIC_RELAXED);
    }
}

static void sort_write_values(void *argument, int64_t begin, int64_t end) {
    const sort_values_state *state = argument;
    const sort_row *s = state->row;
    element_bits *keys = state->keys;
    for (int64_t i = begin; i < end; i += LANES) {
        vbits bits = b_xor(b_load(keys + i), b_set(state->flip));
        b_store(keys + i, state->is_float ? bits : choice_ordered(bits));
    }
    copy_strided(s->out + begin * s->out_stride, s->out_stride, (const char *)(keys + begin), sizeof *keys, end - begin,
                 sizeof *keys);
}

/* Sorts the values without their positions; if one is NaN or -0, instead sets *is_ambiguous and writes no results.
 * `keys` and `spare` have room for the row and one more vector. */
static lw_status sort_values(lw_context *context, const sort_row *s, sort_key *keys, sort_key *spare,
                             int *is_ambiguous) {
    sort_values_state state = {.row = s, .keys = (element_bits *)keys};
    lw_status status = LW_OK;
    int is_done = 0; /* by quicksort, if it pays; by radix sort, if not or if quicksort gives up */
    for (int is_quick = sort_is_quick(context, s->length); status == LW_OK && !is_done; is_quick = 0) {
        state.is_float = is_quick && IS_FLOATING;
        state.flip = state.is_float ? s->flip & BITS_MIN : is_quick ? s->flip : s->flip ^ BITS_MIN;
        status = sort_in_blocks(context, s->length, sort_make_value_keys, &state);
        *is_ambiguous = state.is_ambiguous;
        PATH_IF(state.is_ambiguous, "sort: values are ambiguous");
        if (status != LW_OK || state.is_ambiguous) {
            return status;
        }
        if (SIMD_PARTITION && is_quick) {
            status = sort_quick_values(context, state.keys, s->length, &is_done);
        } else {
            status = sort_radix_keys(context, &keys, &spare, s->length);
            state.keys = (element_bits *)keys;
            is_done = 1;
        }
    }
    return status == LW_OK ? sort_in_blocks(context, s->count, sort_write_values, &state) : status;
}

/* How many pairs sort_one_row() needs room for, twice: with one vector more, as quicksort requires. */
INLINE int64_t sort_items(const sort_row *s) { return (sort_is_selected(s) ? sort_candidates(s) : s->length) + LANES; }

INLINE int sort_is_ranked(const sort_row *s) {
    return s->length <= (SIMD_PARTITION && s->gives_indices ? 2 * SORT_RANKED : SORT_RANKED);
}

/* Returns how much memory sort_one_row() needs: none for rows that are short or divided among tasks. */
static size_t sort_scratch_bytes(const lw_context *context, const sort_row *s) {
    int is_whole = !sort_is_ranked(s) && sort_part_count(context, s) <= 1;
    return is_whole ? 2 * (size_t)sort_items(s) * sizeof(sort_pair) : 0;
}

static lw_status sort_one_row(lw_context *context, const sort_row *s, void *scratch) {
    int64_t parts = sort_part_count(context, s);
    if (HAS_THREADS && parts > 1) {
        return sort_select_in_parts(context, s, parts);
    }
    if (sort_is_ranked(s)) {
        PATH("sort: by rank");
        sort_by_rank(s);
        return LW_OK;
    }
    sort_pair *pairs = scratch, *spare = pairs + sort_items(s);
    if (sort_is_selected(s)) {
        PATH("sort: selection");
        return sort_select_in_row(context, s, pairs, spare);
    }
    sort_range range;
    lw_status status = LW_OK;
#if !IS_FLOATING
    if (s->gives_indices || s->length > SORT_SHORT) {
        status = sort_find_range(context, s, &range);
        int is_small = (sort_key)range.largest - (sort_key)range.least < SORT_VALUES;
        if (status != LW_OK || (is_small && !(SIMD_PARTITION && s->gives_indices && s->length < SORT_COUNTED))) {
            PATH_IF(status == LW_OK, "sort: by counting");
            return status == LW_OK ? sort_by_counting(context, s, range.least) : status;
        }
    }
#endif
    int needs_positions = s->gives_indices;
    if (!needs_positions) {
        status = sort_values(context, s, (sort_key *)pairs, (sort_key *)spare, &needs_positions);
    }
    PATH_EITHER(needs_positions, "sort: pairs", "sort: values");
    if (status != LW_OK || !needs_positions) {
        return status;
    }
    if (SIMD_PARTITION && !s->gives_indices && s->length <= SORT_SHORT) {
        PATH_IF(IS_FLOATING, "sort: few ambiguous values, by rank");
        sort_by_rank(s);
        return LW_OK;
    }
    if (SIMD_PARTITION && sort_is_quick(context, s->length)) {
        int is_done = 0;
        status = IS_FLOATING ? sort_find_range(context, s, &range) : LW_OK;
        if (status == LW_OK) {
            status = sort_by_prefix(context, &range, (int64_t *)pairs, &is_done);
        }
        if (status != LW_OK || is_done) {
            return status;
        }
    }
    return sort_pairs(context, s, pairs, spare);
}
