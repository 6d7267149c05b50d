/* Rows in order: sort and argsort, whole or only the first elements of the result. Stable: equal elements keep their
 * order. NaN counts as the largest, -0 equals 0, and descending is the reverse order, so NaN comes first there.
 *
 * Elements are compared by int32 keys (choice_key_float32; of int32 the element itself), inverted to descend.
 *   short rows    the rank of each element, counted by comparing it with all: lanes of elements at a time
 *   long rows     pairs of key and position by radix sort, from the lowest 8 bits of the key to the highest
 *   long rows of which little is asked for
 *                 what is below the last of the best so far is collected, lanes at a time, and sorted now and then
 *   values alone  the radix sort of the keys by themselves, where they tell the value: not with NaN or -0; bools are
 *                 counted
 * A radix sort moves elements one by one whatever the lanes; it reads and writes each four times and compares none.
 * Source: Knuth, The Art of Computer Programming 3, 5.2 (comparison counting) and 5.2.5 (radix sorting).
 *
 * The layout is that of rows.h. parameters: how many elements of the result are written, whether it descends.
 * core/ops/<op>.h defines the kernels lw_<op>_<dtype> with SORT; kernels.c includes it and names them in the table. */
#pragma once

#include "index_reduction.h"
#include "strided.h"

enum {
    /* Up to here ranks are faster, which take the square of the length by lanes. Zen 5, 2026-11. */
    SORT_SHORT = VF32_LANES >= 8 ? 128
    : VF32_LANES > 1             ? 64
                                 : 32,
    SORT_CHUNK = 4096,   /* elements between memory and scratch, a multiple of lanes */
    SORT_GRAIN = 1 << 14 /* elements worth a task */
};

enum sort_elements { SORT_INT32, SORT_FLOAT32, SORT_BOOL };

/* One row. */
typedef struct sorting {
    const char *x;
    char *out;
    int64_t x_stride, out_stride;
    int64_t length, count;       /* count: of the result, how many elements are written */
    int32_t flip;                /* -1 to descend */
    int elements, gives_indices; /* an enum sort_elements */
} sorting;

/* The keys of elements first .. first + count - 1; up to a vector more is written. */
static void sort_keys(const sorting *s, int64_t first, int64_t count, int32_t *keys) {
    copy_strided((char *)keys, sizeof *keys, s->x + first * s->x_stride, s->x_stride, count, sizeof *keys);
    for (int64_t i = 0; i < count; i += VF32_LANES) {
        vi32 key = vi32_load(keys + i);
        if (s->elements == SORT_FLOAT32) {
            key = choice_key_float32(vf32_from_bits(key));
        }
        vi32_store(keys + i, vi32_xor(key, vi32_set(s->flip)));
    }
}

/* Element `index` of the row is in place `place` of the result. */
INLINE void sort_place(const sorting *s, int64_t place, int32_t index) {
    const char *from = s->gives_indices ? (const char *)&index : s->x + index * s->x_stride;
    __builtin_memcpy(s->out + place * s->out_stride, from, sizeof index);
}

/* An element's rank is how many come before it: the smaller ones, and equal ones in front of it. */
static void sort_by_rank(const sorting *s) {
    int32_t keys[SORT_SHORT + VF32_LANES], ranks[SORT_SHORT + VF32_LANES];
    int32_t length = (int32_t)s->length;
    sort_keys(s, 0, length, keys);
    for (int32_t i = 0; i < length; i += VF32_LANES) {
        vi32 own = vi32_load(keys + i), rank = vi32_set(0);
        int32_t j = 0, end = i + VF32_LANES < length ? i + VF32_LANES : length;
        for (; j < i; j++) {
            rank -= (vi32)vi32_le(vi32_set(keys[j]), own); /* a mask is -1 */
        }
        for (; j < end; j++) {
            vm32 in_front = vi32_gt(vi32_iota(), vi32_set(j - i));
            vi32 other = vi32_set(keys[j]);
            rank -= (vi32)vm32_or(vi32_lt(other, own), vm32_and(in_front, vi32_eq(other, own)));
        }
        for (; j < length; j++) {
            rank -= (vi32)vi32_lt(vi32_set(keys[j]), own);
        }
        vi32_store(ranks + i, rank);
    }
    for (int32_t i = 0; i < length; i++) {
        if (ranks[i] < s->count) {
            sort_place(s, ranks[i], i);
        }
    }
}

/* Sorts by 32 bits of each item from `low` on, and returns where the result is: in `items` or in `spare`. */
#define SORT_RADIX(bits, low)                                                                             \
    static uint##bits##_t *sort_radix_##bits(uint##bits##_t *items, uint##bits##_t *spare, int64_t n) {   \
        uint32_t starts[4][256];                                                                          \
        for (int i = 0; i < 4 * 256; i++) starts[i / 256][i % 256] = 0;                                   \
        for (int64_t i = 0; i < n; i++)                                                                   \
            for (int digit = 0; digit < 4; digit++) starts[digit][items[i] >> (low + 8 * digit) & 255]++; \
        for (int digit = 0; digit < 4; digit++) {                                                         \
            uint32_t *start = starts[digit], sum = 0;                                                     \
            int shift = low + 8 * digit;                                                                  \
            if (start[items[0] >> shift & 255] == n) continue; /* all the same */                         \
            for (int i = 0; i < 256; i++) {                                                               \
                uint32_t count = start[i];                                                                \
                start[i] = sum;                                                                           \
                sum += count;                                                                             \
            }                                                                                             \
            for (int64_t i = 0; i < n; i++) spare[start[items[i] >> shift & 255]++] = items[i];           \
            uint##bits##_t *sorted = spare;                                                               \
            spare = items;                                                                                \
            items = sorted;                                                                               \
        }                                                                                                 \
        return items;                                                                                     \
    }

SORT_RADIX(32, 0)
SORT_RADIX(64, 32)

/* Key and position as one number, of which the key is the more significant half. */
INLINE uint64_t sort_pair(int32_t key, int64_t index) {
    return (uint64_t)((uint32_t)key ^ 0x80000000u) << 32 | (uint64_t)index;
}

static void sort_pairs(const sorting *s, uint64_t *pairs, uint64_t *spare) {
    int32_t keys[SORT_CHUNK];
    for (int64_t first = 0; first < s->length; first += SORT_CHUNK) {
        int64_t count = min_int64(s->length - first, SORT_CHUNK);
        sort_keys(s, first, count, keys);
        for (int64_t i = 0; i < count; i++) {
            pairs[first + i] = sort_pair(keys[i], first + i);
        }
    }
    pairs = sort_radix_64(pairs, spare, s->length);
    for (int64_t i = 0; i < s->count; i++) {
        sort_place(s, i, (int32_t)pairs[i]);
    }
}

/* Room for what is collected; where the row has no more elements, sorting all of it is less work. */
INLINE int64_t sort_room(const sorting *s) { return s->count + (s->count > SORT_CHUNK ? s->count : SORT_CHUNK); }

/* An element counts when it is below the last of the best so far: one that equals it comes later, and stays out. */
static void sort_few(const sorting *s, uint64_t *best, uint64_t *spare) {
    int32_t keys[SORT_CHUNK], limit = INT32_MAX;
    int64_t held = 0, room = sort_room(s);
    int is_full = 0; /* as many as asked for are held, and limit is the last one's key */
    for (int64_t first = 0; first < s->length; first += SORT_CHUNK) {
        int64_t count = min_int64(s->length - first, SORT_CHUNK);
        sort_keys(s, first, count, keys);
        for (int64_t i = 0; i < count; i += VF32_LANES) {
            if (is_full && !vm32_any(vi32_lt(vi32_load(keys + i), vi32_set(limit)))) {
                continue;
            }
            for (int64_t j = i; j < count && j < i + VF32_LANES; j++) {
                if (is_full && keys[j] >= limit) {
                    continue;
                }
                best[held++] = sort_pair(keys[j], first + j);
                if (held < room) {
                    continue;
                }
                uint64_t *sorted = sort_radix_64(best, spare, held);
                spare = sorted == best ? spare : best;
                best = sorted;
                held = s->count;
                is_full = 1;
                limit = (int32_t)((uint32_t)(best[held - 1] >> 32) ^ 0x80000000u);
            }
        }
    }
    best = sort_radix_64(best, spare, held);
    for (int64_t i = 0; i < s->count; i++) {
        sort_place(s, i, (int32_t)best[i]);
    }
}

/* The bits of an element as a number in its order, and back: for negative ones all but the sign are inverted. */
INLINE vi32 sort_ordered(vi32 bits) {
    return vi32_xor(bits, vi32_and(vi32_shift_right(bits, 31), vi32_set(INT32_MAX)));
}

/* Without positions: 0, and nothing done, where an element is NaN or -0, which its key does not tell. Both arrays have
 * room for a vector more. */
static int sort_values(const sorting *s, uint32_t *keys, uint32_t *spare) {
    const vi32 flip = vi32_set(s->flip ^ INT32_MIN);
    for (int64_t first = 0; first < s->length; first += SORT_CHUNK) {
        int64_t count = min_int64(s->length - first, SORT_CHUNK);
        int32_t *some = (int32_t *)keys + first;
        copy_strided((char *)some, sizeof *some, s->x + first * s->x_stride, s->x_stride, count, sizeof *some);
        for (int64_t i = count; i % VF32_LANES; i++) {
            some[i] = 0;
        }
        vm32 untold = vm32_set(0);
        for (int64_t i = 0; i < count; i += VF32_LANES) {
            vi32 bits = vi32_load(some + i), key = bits;
            if (s->elements == SORT_FLOAT32) {
                key = sort_ordered(bits);
                untold |= vf32_isnan(vf32_from_bits(bits)) | vi32_eq(bits, vi32_set(INT32_MIN));
            }
            vi32_store(some + i, vi32_xor(key, flip));
        }
        if (vm32_any(untold)) {
            return 0;
        }
    }
    keys = sort_radix_32(keys, spare, s->length);
    for (int64_t i = 0; i < s->count; i += VF32_LANES) {
        vi32 key = vi32_xor(vi32_load((int32_t *)keys + i), flip);
        vi32_store((int32_t *)keys + i, s->elements == SORT_FLOAT32 ? sort_ordered(key) : key);
    }
    copy_strided(s->out, s->out_stride, (const char *)keys, sizeof *keys, s->count, sizeof *keys);
    return 1;
}

/* Values alone, of which it is enough to count one. */
static void sort_bools(const sorting *s) {
    int64_t first = 0; /* how many of the value that comes first */
    for (int64_t i = 0; i < s->length; i++) {
        first += s->x[i * s->x_stride];
    }
    if (!s->flip) {
        first = s->length - first;
    }
    for (int64_t i = 0; i < s->count; i++) {
        s->out[i * s->out_stride] = (char)((i < first) == (s->flip != 0));
    }
}

typedef struct sort_call {
    const lw_layout *layout;
    sorting row; /* but for the places of its operands */
    const char *x;
    char *out;
    int64_t rows, per_task;
} sort_call;

static lw_status sort_task(lw_context *context, int64_t task, const void *argument) {
    const sort_call *all = argument;
    sorting s = all->row;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->rows);
    int few = sort_room(&s) < s.length;
    size_t items = (size_t)(few ? sort_room(&s) : s.length);
    uint64_t *scratch = NULL;
    if (s.length > SORT_SHORT && s.elements != SORT_BOOL) {
        scratch = context->allocate ? context->allocate(context, 2 * items * sizeof *scratch) : NULL;
        if (!scratch) {
            return LW_NO_MEMORY;
        }
    }
    layout_iterator it;
    iterator_start(&it, all->layout, 0, all->layout->ndim - all->layout->inner, 2, first);
    for (int64_t i = first; i < end; i++, iterator_next(&it)) {
        s.x = all->x + it.offset[0];
        s.out = all->out + it.offset[1];
        if (s.elements == SORT_BOOL) {
            sort_bools(&s);
        } else if (!scratch) {
            sort_by_rank(&s);
        } else if (few) {
            sort_few(&s, scratch, scratch + items);
        } else if (s.gives_indices || !sort_values(&s, (uint32_t *)scratch, (uint32_t *)(scratch + items))) {
            sort_pairs(&s, scratch, scratch + items);
        }
    }
    if (scratch) {
        context->release(context, scratch);
    }
    return LW_OK;
}

static lw_status sort_rows(lw_context *context, const void *layout_argument, const void *const *inputs,
                           void *const *outputs, const lw_scalar *parameters, int elements, int gives_indices) {
    const lw_layout *layout = layout_argument;
    int32_t outer = layout->ndim - layout->inner;
    sort_call all = {.layout = layout, .x = inputs[0], .out = outputs[0]};
    all.row = (sorting){.count = parameters[0].i, .elements = elements, .gives_indices = gives_indices};
    all.row.length = layout_count(layout, outer, layout->ndim);
    all.row.flip = parameters[1].i ? -1 : 0;
    if (layout->inner) {
        all.row.x_stride = layout->strides[0][outer];
        all.row.out_stride = layout->strides[1][outer];
    }
    all.rows = layout_count(layout, 0, outer);
    if (all.rows == 0 || all.row.count == 0) {
        return LW_OK;
    }
    all.per_task = divide_up(SORT_GRAIN, all.row.length);
    return run_tasks(context, divide_up(all.rows, all.per_task), sort_task, &all);
}

#define SORT_KERNEL(op, dtype, elements, gives_indices)                                                    \
    static lw_status lw_##op##_##dtype(lw_context *context, const void *layout, const void *const *inputs, \
                                       void *const *outputs, const lw_scalar *parameters) {                \
        return sort_rows(context, layout, inputs, outputs, parameters, elements, gives_indices);           \
    }
/* Defines the kernels lw_<op>_int32 and lw_<op>_float32. */
#define SORT(op, gives_indices)                       \
    SORT_KERNEL(op, int32, SORT_INT32, gives_indices) \
    SORT_KERNEL(op, float32, SORT_FLOAT32, gives_indices)
