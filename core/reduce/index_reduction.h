/* Reductions to the position of an element: argmax and argmin. Uses the blocks and trees of reduce.h.
 *
 * An operation defines the key of an element, an integer; the result is the index of the first element with the largest
 * key. Keys of floats put NaN above all numbers, and -0 equals 0. Indices are int32, so the host checks that a reduced
 * extent is below 2^31.
 *
 * core/ops/<op>.h invokes INDEX_REDUCTION, which defines the kernel lw_<op>_<dtype>. */
#pragma once

#include "reduce/reduction.h"

/* Maps the bits of an element to a signed integer that compares like the element: inverts all bits but the sign of a
 * negative float, and the highest bit of an unsigned integer. Applied to such an integer, returns the bits again. */
INLINE vbits choice_ordered(vbits bits) {
#if IS_FLOATING
    return b_xor(bits, b_and(b_shift_right(bits, 8 * ELEMENT_SIZE - 1), b_set(BITS_MAX)));
#elif defined IS_UNSIGNED
    return b_xor(bits, b_set(BITS_MIN));
#else
    return bits;
#endif
}

/* Of floats, x + 0 maps -0 to 0, and NaN becomes the largest integer. */
INLINE vbits choice_key_of(vec x) {
#if IS_FLOATING
    return b_select(v_isnan(x), b_set(BITS_MAX), choice_ordered(v_bits(x + v_set(0))));
#else
    return choice_ordered(v_bits(x));
#endif
}

typedef struct choice_lanes {
    vbits key, index;
} choice_lanes;

/* Returns, per lane, the choice with the larger key, or with the lower index if the keys are equal. */
INLINE choice_lanes choice_max(choice_lanes a, choice_lanes b) {
    vmask is_b = b_gt(b.key, a.key) | (b_eq(b.key, a.key) & b_lt(b.index, a.index));
    return (choice_lanes){b_select(is_b, b.key, a.key), b_select(is_b, b.index, a.index)};
}

/* Returns `best` updated with later elements, which replace it only if their key is larger. */
INLINE choice_lanes choice_update(choice_lanes best, vbits key, vbits index) {
    vmask larger = b_gt(key, best.key);
    return (choice_lanes){b_select(larger, key, best.key), b_select(larger, index, best.index)};
}

/* Returns the keys of n elements at x, in lanes 0 .. n - 1. */
typedef vbits choice_key(const char *x, int n);

enum { CHOICE_GROUP = VF32_LANES < 16 ? 4 : 2 };

INLINE void choice_block(const char *x, int64_t start, int64_t count, choice_key *key, reduced *result) {
    /* Each lane starts with the lowest key and its own first index. In a lane without elements that index is above
     * those of all elements, so the lane loses even to an element with the lowest key. */
    choice_lanes best[CHOICE_GROUP];
    vbits step = b_set(CHOICE_GROUP * LANES), index[CHOICE_GROUP];
    for (int r = 0; r < CHOICE_GROUP; r++) {
        index[r] = b_iota() + b_set((element_bits)start + r * LANES);
        best[r] = (choice_lanes){b_set(BITS_MIN), index[r]};
    }
    int64_t i = 0;
    for (; i + CHOICE_GROUP * LANES <= count; i += CHOICE_GROUP * LANES) {
        for (int r = 0; r < CHOICE_GROUP; r++) {
            best[r] = choice_update(best[r], key(x + (i + r * LANES) * ELEMENT_SIZE, LANES), index[r]);
            index[r] += step;
        }
    }
    PATH_IF(count >= CHOICE_GROUP * LANES, "index reduction: several vectors");
    PATH_IF(count - i >= LANES, "index reduction: one vector");
    PATH_IF(LANES > 1 && count % LANES, "index reduction: part of a vector");
    choice_lanes all = best[0];
    for (int r = 1; r < CHOICE_GROUP; r++) {
        all = choice_max(all, best[r]);
    }
    for (; i < count; i += LANES) {
        int n = count - i < LANES ? (int)(count - i) : LANES;
        vbits at = b_iota() + b_set((element_bits)(start + i));
        vbits keys = n == LANES ? key(x + i * ELEMENT_SIZE, LANES) : key(x + i * ELEMENT_SIZE, n);
        keys = b_select(b_lt(b_iota(), b_set(n)), keys, b_set(BITS_MIN));
        all = choice_max(all, (choice_lanes){keys, at});
    }
    for (int n = LANES / 2; n; n /= 2) {
        all = choice_max(all, (choice_lanes){b_slide_down(all.key, n), b_slide_down(all.index, n)});
    }
    result->choice.key = b_first(all.key);
    result->choice.index = b_first(all.index);
}

INLINE void choice_columns(const char *x, int64_t stride, int64_t start, int64_t count, int64_t columns,
                           choice_key *key, reduced *results) {
    for (int64_t c = 0; c < columns; c += LANES) {
        int n = columns - c < LANES ? (int)(columns - c) : LANES;
        PATH_IF(n == LANES, "index reduction: columns of a vector");
        PATH_IF(LANES > 1 && n < LANES, "index reduction: columns of part of a vector");
        vbits index = b_set((element_bits)start), one = b_set(1);
        choice_lanes best = {b_set(BITS_MIN), index};
        for (int64_t i = 0; i < count; i++, index += one) {
            const char *p = x + i * stride + c * ELEMENT_SIZE;
            best = choice_update(best, n == LANES ? key(p, LANES) : key(p, n), index);
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

INLINE void choice_finish_one(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    int32_t index = (int32_t)total->choice.index;
    __builtin_memcpy(out, &index, sizeof index);
}
FINISH(choice)

/* Defines the kernel lw_<op>_<dtype>. `key` is an expression of x, a vector of elements. */
#define INDEX_REDUCTION(op, key)                                                                       \
    INLINE vbits op##_key(const char *p, int n) {                                                      \
        vec x = reduce_load(p, n);                                                                     \
        return key;                                                                                    \
    }                                                                                                  \
    static void op##_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        choice_block(from->x, start, count, op##_key, result);                                         \
    }                                                                                                  \
    static void op##_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns, \
                             reduced *results) {                                                       \
        choice_columns(from->x, from->x_stride, start, count, columns, op##_key, results);             \
    }                                                                                                  \
    static const reducer op##_reducer = {1,           sizeof(element), op##_block,      op##_columns,  \
                                         choice_join, choice_finish,   REDUCE_UNDECIDED};              \
    REDUCTION_KERNEL(op)
