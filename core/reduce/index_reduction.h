/* Reductions to the position of an element: argmax and argmin. Uses the blocks and trees of reduction.h.
 *
 * An operation defines, per dtype, the int32 key of an element; the result is the index of the first element with the
 * largest key. Keys of floats put NaN above all numbers, and -0 equals 0. Indices are int32, so the host checks that a
 * reduced extent is below 2^31.
 *
 * core/ops/<op>.h invokes INDEX_REDUCTION once per dtype, which defines the kernel lw_<op>_<dtype>; kernels.c includes
 * that header and lists the kernel in the table. */
#pragma once

#include "reduce/reduction.h"

/* Maps floats to integers of the same order: in negative floats, inverts all bits but the sign. x + 0 maps -0 to 0. NaN
 * becomes the largest integer. */
INLINE vi32 choice_key_float32(vf32 x) {
    vi32 bits = vf32_bits(x + vf32_set(0));
    vi32 ordered = bits ^ (vi32_shift_right(bits, 31) & vi32_set(0x7fffffff));
    return vi32_select(vf32_isnan(x), vi32_set(INT32_MAX), ordered);
}

typedef struct choice_lanes {
    vi32 key, index;
} choice_lanes;

/* Returns, per lane, the choice with the larger key, or with the lower index if the keys are equal. */
INLINE choice_lanes choice_max(choice_lanes a, choice_lanes b) {
    vm32 is_b = vi32_gt(b.key, a.key) | (vi32_eq(b.key, a.key) & vi32_lt(b.index, a.index));
    return (choice_lanes){vi32_select(is_b, b.key, a.key), vi32_select(is_b, b.index, a.index)};
}

/* Returns `best` updated with later elements, which replace it only if their key is larger. */
INLINE choice_lanes choice_update(choice_lanes best, vi32 key, vi32 index) {
    vm32 larger = vi32_gt(key, best.key);
    return (choice_lanes){vi32_select(larger, key, best.key), vi32_select(larger, index, best.index)};
}

/* Returns the keys of n elements at x, in lanes 0 .. n - 1. */
typedef vi32 choice_key(const char *x, int n);

enum { CHOICE_GROUP = VF32_LANES < 16 ? 4 : 2 };

INLINE void choice_block(const char *x, int64_t start, int64_t count, int size, choice_key *key, reduced *result) {
    /* Each lane starts with the lowest key and its own first index. In a lane without elements that index is above
     * those of all elements, so the lane loses even to an element with the lowest key. */
    choice_lanes best[CHOICE_GROUP];
    vi32 step = vi32_set(CHOICE_GROUP * VF32_LANES), index[CHOICE_GROUP];
    for (int r = 0; r < CHOICE_GROUP; r++) {
        index[r] = vi32_iota() + vi32_set((int32_t)start + r * VF32_LANES);
        best[r] = (choice_lanes){vi32_set(INT32_MIN), index[r]};
    }
    int64_t i = 0;
    for (; i + CHOICE_GROUP * VF32_LANES <= count; i += CHOICE_GROUP * VF32_LANES) {
        for (int r = 0; r < CHOICE_GROUP; r++) {
            best[r] = choice_update(best[r], key(x + (i + r * VF32_LANES) * size, VF32_LANES), index[r]);
            index[r] += step;
        }
    }
    PATH_IF(count >= CHOICE_GROUP * VF32_LANES, "index reduction: several vectors");
    PATH_IF(count - i >= VF32_LANES, "index reduction: one vector");
    PATH_IF(VF32_LANES > 1 && count % VF32_LANES, "index reduction: part of a vector");
    choice_lanes all = best[0];
    for (int r = 1; r < CHOICE_GROUP; r++) {
        all = choice_max(all, best[r]);
    }
    for (; i < count; i += VF32_LANES) {
        int n = count - i < VF32_LANES ? (int)(count - i) : VF32_LANES;
        vi32 at = vi32_iota() + vi32_set((int32_t)(start + i));
        vi32 keys = n == VF32_LANES ? key(x + i * size, VF32_LANES) : key(x + i * size, n);
        keys = vi32_select(vi32_lt(vi32_iota(), vi32_set(n)), keys, vi32_set(INT32_MIN));
        all = choice_max(all, (choice_lanes){keys, at});
    }
    for (int n = VF32_LANES / 2; n; n /= 2) {
        all = choice_max(all, (choice_lanes){vi32_slide_down(all.key, n), vi32_slide_down(all.index, n)});
    }
    result->choice.key = vi32_first(all.key);
    result->choice.index = vi32_first(all.index);
}

INLINE void choice_columns(const char *x, int64_t stride, int64_t start, int64_t count, int64_t columns, int size,
                           choice_key *key, reduced *results) {
    for (int64_t c = 0; c < columns; c += VF32_LANES) {
        int n = columns - c < VF32_LANES ? (int)(columns - c) : VF32_LANES;
        PATH_IF(n == VF32_LANES, "index reduction: columns of a vector");
        PATH_IF(VF32_LANES > 1 && n < VF32_LANES, "index reduction: columns of part of a vector");
        vi32 index = vi32_set((int32_t)start), one = vi32_set(1);
        choice_lanes best = {vi32_set(INT32_MIN), index};
        for (int64_t i = 0; i < count; i++, index += one) {
            const char *p = x + i * stride + c * size;
            best = choice_update(best, n == VF32_LANES ? key(p, VF32_LANES) : key(p, n), index);
        }
        for (int lane = 0; lane < n; lane++) {
            results[c + lane].choice.key = best.key[lane];
            results[c + lane].choice.index = best.index[lane];
        }
    }
}

static void choice_join(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    if (right->choice.key > left->choice.key) {
        left->choice = right->choice;
    }
}

static void choice_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    __builtin_memcpy(out, &total->choice.index, sizeof total->choice.index);
}

/* Defines the kernel lw_<op>_<in>. `key` is an expression of x, a vector of elements of dtype `in`. */
#define INDEX_REDUCTION(op, in, key)                                                                               \
    INLINE vi32 op##_key_##in(const char *p, int n) {                                                              \
        lane_##in x = lane_load_##in(p, n);                                                                        \
        return key;                                                                                                \
    }                                                                                                              \
    static void op##_block_##in(const reduce_source *from, int64_t start, int64_t count, reduced *result) {        \
        choice_block(from->x, start, count, sizeof(item_##in), op##_key_##in, result);                             \
    }                                                                                                              \
    static void op##_columns_##in(const reduce_source *from, int64_t start, int64_t count, int64_t columns,        \
                                  reduced *results) {                                                              \
        choice_columns(from->x, from->x_stride, start, count, columns, sizeof(item_##in), op##_key_##in, results); \
    }                                                                                                              \
    static const reducer op##_reducer_##in = {1,           sizeof(item_##in), op##_block_##in, op##_columns_##in,  \
                                              choice_join, choice_finish};                                         \
    REDUCTION_KERNEL(op, in)
