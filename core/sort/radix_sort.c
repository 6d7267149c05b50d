#include "sort/radix_sort.h"

#include "layout/copy.h"

enum {
    SORT_MAX_PART = 1 << 20, /* maximum number of items of a part, for interruptions */
    SORT_MAX_DIGITS = 8,
    SORT_DIGIT_VALUES = 256
};

typedef struct sort_pass {
    sort_chunk *chunk;
    void *argument;
    int64_t begin, end;
} sort_pass;

static void sort_chunks(sort_chunk *chunk, void *argument, int64_t begin, int64_t end) {
    for (; begin < end; begin += SORT_CHUNK) {
        chunk(argument, begin, min_int64(begin + SORT_CHUNK, end));
    }
}

static lw_status sort_pass_task(lw_context *context, int64_t task, const void *argument) {
    const sort_pass *pass = argument;
    int64_t begin = pass->begin + task * SORT_BLOCK;
    sort_chunks(pass->chunk, pass->argument, begin, min_int64(begin + SORT_BLOCK, pass->end));
    return LW_OK;
}

lw_status sort_in_blocks(lw_context *context, int64_t count, sort_chunk *chunk, void *argument) {
    sort_pass pass = {chunk, argument, 0, count};
    return run_tasks(context, divide_up(count, SORT_BLOCK), sort_pass_task, &pass);
}

lw_status sort_in_order(lw_context *context, int64_t count, sort_chunk *chunk, void *argument) {
    lw_status status = LW_OK;
    PATH_EITHER(count <= SORT_BLOCK, "sort: pass of one block", "sort: pass of several blocks");
    for (int64_t begin = 0; begin < count && status == LW_OK; begin += SORT_BLOCK) {
        sort_pass pass = {chunk, argument, begin, min_int64(begin + SORT_BLOCK, count)};
        status =
            count <= SORT_BLOCK ? sort_pass_task(context, 0, &pass) : run_interruptible(context, sort_pass_task, &pass);
    }
    return status;
}

typedef uint32_t sort_counts[SORT_DIGIT_VALUES];

/* The passes of a radix sort over blocks of items. */
typedef struct sort_radix_passes {
    sort_chunk *count_all; /* adds to counts[d][v], for each digit d, the number of items whose digit d is v */
    sort_chunk *count;     /* the same for one digit, in counts[0] */
    sort_chunk *scatter;   /* moves each item to counts[0][its digit] in `sorted`, and increments this index */
    int digits;            /* of a key */
} sort_radix_passes;

typedef struct sort_radix_state {
    const void *items;
    void *sorted;
    sort_counts *counts;
    int digit;
} sort_radix_state;

/* Defines the passes for items of a type, and sort_radix_<name>, which sorts them by `key`, an expression of an
 * item x. */
#define SORT_RADIX(name, item, key, digits_of_key)                                                         \
    static void sort_count_digits_##name(void *argument, int64_t begin, int64_t end) {                     \
        const sort_radix_state *state = argument;                                                          \
        const item *items = state->items;                                                                  \
        sort_counts *counts = state->counts;                                                               \
        for (int64_t i = begin; i < end; i++) {                                                            \
            item x = items[i];                                                                             \
            for (int digit = 0; digit < digits_of_key; digit++) counts[digit][(key) >> 8 * digit & 255]++; \
        }                                                                                                  \
    }                                                                                                      \
    static void sort_count_digit_##name(void *argument, int64_t begin, int64_t end) {                      \
        const sort_radix_state *state = argument;                                                          \
        const item *items = state->items;                                                                  \
        uint32_t *count = *state->counts;                                                                  \
        int shift = 8 * state->digit;                                                                      \
        for (int64_t i = begin; i < end; i++) {                                                            \
            item x = items[i];                                                                             \
            count[(key) >> shift & 255]++;                                                                 \
        }                                                                                                  \
    }                                                                                                      \
    static void sort_scatter_##name(void *argument, int64_t begin, int64_t end) {                          \
        const sort_radix_state *state = argument;                                                          \
        const item *items = state->items;                                                                  \
        item *sorted = state->sorted;                                                                      \
        uint32_t *next = *state->counts;                                                                   \
        int shift = 8 * state->digit;                                                                      \
        for (int64_t i = begin; i < end; i++) {                                                            \
            item x = items[i];                                                                             \
            sorted[next[(key) >> shift & 255]++] = x;                                                      \
        }                                                                                                  \
    }                                                                                                      \
    lw_status sort_radix_##name(lw_context *context, item **items, item **spare, int64_t n) {              \
        static const sort_radix_passes passes = {sort_count_digits_##name, sort_count_digit_##name,        \
                                                 sort_scatter_##name, digits_of_key};                      \
        void *sorted = *items, *other = *spare;                                                            \
        lw_status status = sort_radix(context, &sorted, &other, n, &passes);                               \
        *items = sorted;                                                                                   \
        *spare = other;                                                                                    \
        return status;                                                                                     \
    }

/* Replaces the counts of a digit in each of `parts` parts by the indices of its first items after sorting. Returns
 * whether all n items have the same digit, and so are sorted already. */
static int sort_find_places(sort_counts *counts, int64_t parts, int64_t n) {
    uint32_t place = 0;
    int is_sorted = 0;
    for (int value = 0; value < SORT_DIGIT_VALUES; value++) {
        uint32_t first = place;
        for (int64_t part = 0; part < parts; part++) {
            uint32_t count = counts[part][value];
            counts[part][value] = place;
            place += count;
        }
        is_sorted |= place - first == n;
    }
    PATH_IF(is_sorted, "sort: all items have the same digit");
    return is_sorted;
}

static void sort_exchange(void **items, void **spare) {
    void *sorted = *spare;
    *spare = *items;
    *items = sorted;
}

static lw_status sort_radix_in_order(lw_context *context, void **items, void **spare, int64_t n,
                                     const sort_radix_passes *passes) {
    sort_counts counts[SORT_MAX_DIGITS] = {0};
    sort_radix_state state = {.items = *items, .counts = counts};
    lw_status status = sort_in_order(context, n, passes->count_all, &state);
    for (int digit = 0; digit < passes->digits && status == LW_OK; digit++) {
        if (sort_find_places(counts + digit, 1, n)) {
            continue;
        }
        state = (sort_radix_state){*items, *spare, counts + digit, digit};
        status = sort_in_order(context, n, passes->scatter, &state);
        sort_exchange(items, spare);
    }
    return status;
}

/* A pass of a radix sort that is divided among tasks. */
typedef struct sort_divided_pass {
    sort_chunk *chunk;
    sort_radix_state state; /* `counts` has an element for each part */
    int64_t n, per_part;
} sort_divided_pass;

static lw_status sort_divided_task(lw_context *context, int64_t task, const void *argument) {
    const sort_divided_pass *pass = argument;
    sort_radix_state state = pass->state;
    state.counts += task;
    sort_chunks(pass->chunk, &state, task * pass->per_part, min_int64((task + 1) * pass->per_part, pass->n));
    return LW_OK;
}

static lw_status sort_radix_in_parts(lw_context *context, void **items, void **spare, int64_t n, int64_t per_part,
                                     sort_counts *counts, const sort_radix_passes *passes) {
    int64_t parts = divide_up(n, per_part);
    lw_status status = LW_OK;
    for (int digit = 0; digit < passes->digits && status == LW_OK; digit++) {
        sort_divided_pass pass = {passes->count, {*items, *spare, counts, digit}, n, per_part};
        for (int64_t i = 0; i < parts * SORT_DIGIT_VALUES; i++) {
            counts[i / SORT_DIGIT_VALUES][i % SORT_DIGIT_VALUES] = 0;
        }
        status = run_tasks(context, parts, sort_divided_task, &pass);
        if (status != LW_OK || sort_find_places(counts, parts, n)) {
            continue;
        }
        pass.chunk = passes->scatter;
        status = run_tasks(context, parts, sort_divided_task, &pass);
        sort_exchange(items, spare);
    }
    return status;
}

static lw_status sort_radix(lw_context *context, void **items, void **spare, int64_t n,
                            const sort_radix_passes *passes) {
    sort_counts *counts = NULL;
    int64_t per_part = 0;
    if (HAS_THREADS && context->threads > 1 && n >= SORT_DIVIDED) {
        per_part = min_int64(divide_up(n, context->threads), SORT_MAX_PART);
        counts = allocate_scratch(context, (size_t)divide_up(n, per_part) * sizeof *counts);
    }
    if (!HAS_THREADS || !counts) {
        return sort_radix_in_order(context, items, spare, n, passes);
    }
    PATH_IF(HAS_THREADS, "sort: in parts");
    lw_status status = sort_radix_in_parts(context, items, spare, n, per_part, counts, passes);
    release_scratch(context, counts);
    return status;
}

SORT_RADIX(keys_32, uint32_t, x, 4)
SORT_RADIX(keys_64, uint64_t, x, 8)
SORT_RADIX(pairs_32, sort_pair_32, x >> 32, 4)
SORT_RADIX(pairs_64, sort_pair_64, x.key, 8)
