/* Reductions to the position of an element: argmax and argmin. Uses the blocks and trees of reduce.h.
 *
 * An operation defines the key of an element, an integer; the result is the index of the first element with the largest
 * key. A block is reduced to that key, by max or min of its elements; its position is searched in the first block that
 * has the largest one. Keys of floats put NaN above all numbers, and -0 equals 0. Indices are int32, so the host checks
 * that a reduced extent is below 2^31.
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

enum {
    CHOICE_GROUP = ELEMENT_SIZE * 128 < 4 * LANES ? 128 / LANES : 4, /* vectors whose lanes a lane can count */
    CHOICE_RUN = ELEMENT_SIZE == 1 ? 128 : REDUCE_BLOCK              /* elements of a column that a lane can count */
};

typedef struct choice_lanes {
    vbits key, index;
} choice_lanes;

/* Returns `best` updated with later elements, which replace it only if their key is larger. */
INLINE choice_lanes choice_update(choice_lanes best, vbits key, vbits index) {
    vmask larger = b_gt(key, best.key);
    return (choice_lanes){b_select(larger, key, best.key), b_select(larger, index, best.index)};
}

/* Returns the keys of n elements at x, in lanes 0 .. n - 1. */
typedef vbits choice_key(const char *x, int n);

/* Returns the first position of an element with the key `chosen`, which one of `count` elements at x has. Branches only
 * on the group of vectors that it is in, not on the vector. */
INLINE int64_t choice_position(const char *x, int64_t count, int64_t chosen, choice_key *key) {
    vbits all = b_set((element_bits)chosen), lane = b_set(BITS_MAX);
    int64_t i = 0;
    for (; i + CHOICE_GROUP * LANES < count; i += CHOICE_GROUP * LANES) {
        vmask found = b_eq(key(x + i * ELEMENT_SIZE, LANES), all);
#pragma GCC unroll 4
        for (int r = 1; r < CHOICE_GROUP; r++) {
            found |= b_eq(key(x + (i + r * LANES) * ELEMENT_SIZE, LANES), all);
        }
        if (m_any(found)) {
            PATH("index reduction: in a whole group of vectors");
            break;
        }
    }
#pragma GCC unroll 4
    for (int r = CHOICE_GROUP - 1; r >= 0; r--) {
        int64_t at = i + r * LANES;
        if (at < count) {
            vbits keys =
                at + LANES <= count ? key(x + at * ELEMENT_SIZE, LANES) : key(x + at * ELEMENT_SIZE, (int)(count - at));
            lane = b_select(b_eq(keys, all), b_iota() + b_set((element_bits)(r * LANES)), lane);
        }
    }
    for (int n = LANES / 2; n; n /= 2) {
        lane = b_minimum(lane, b_slide_down(lane, n));
    }
    return i + b_first(lane);
}

INLINE void choice_columns(const char *x, int64_t stride, int64_t start, int64_t count, int64_t columns,
                           choice_key *key, reduced *results) {
    for (int64_t c = 0; c < columns; c += LANES) {
        int n = columns - c < LANES ? (int)(columns - c) : LANES;
        PATH_IF(n == LANES, "index reduction: columns of a vector");
        PATH_IF(LANES > 1 && n < LANES, "index reduction: columns of part of a vector");
        for (int64_t run = 0; run < count; run += CHOICE_RUN) {
            int64_t end = min_int64(count, run + CHOICE_RUN);
            vbits index = b_set(0), one = b_set(1);
            choice_lanes best = {b_set(BITS_MIN), index};
            for (int64_t i = run; i < end; i++, index += one) {
                const char *p = x + i * stride + c * ELEMENT_SIZE;
                best = choice_update(best, n == LANES ? key(p, LANES) : key(p, n), index);
            }
            PATH_IF(run > 0, "index reduction: another run of a column");
            for (int lane = 0; lane < n; lane++) {
                reduced *result = results + c + lane;
                if (run == 0 || best.key[lane] > result->choice.key) {
                    result->choice.key = best.key[lane];
                    result->choice.index = start + run + best.index[lane];
                }
            }
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

/* Defines the kernel lw_<op>_<dtype>. `ordered` is an expression of x, a vector of elements, for their keys;
 * <extreme>_block reduces a block to an element with the largest key. */
#define INDEX_REDUCTION(op, extreme, ordered)                                                          \
    INLINE vbits op##_key_of(vec x) { return ordered; }                                                \
    INLINE vbits op##_key(const char *p, int n) { return op##_key_of(reduce_load(p, n)); }             \
    static void op##_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        extreme##_block(from, start, count, result);                                                   \
        result->choice.key = b_first(op##_key_of(v_set(reduced_element(result))));                     \
        result->choice.index = start;                                                                  \
    }                                                                                                  \
    static void op##_place(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        result->choice.index = start + choice_position(from->x, count, result->choice.key, op##_key);  \
    }                                                                                                  \
    static void op##_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns, \
                             reduced *results) {                                                       \
        choice_columns(from->x, from->x_stride, start, count, columns, op##_key, results);             \
    }                                                                                                  \
    OWN_KERNELS(op, op##_int8, op##_uint8, op##_int16, op##_uint16)                                    \
    static const reducer op##_reducer = {1,           sizeof(element), op##_block,       op##_columns, \
                                         choice_join, choice_finish,   REDUCE_UNDECIDED, NULL,         \
                                         op##_place,  OWN(op)};                                        \
    REDUCTION_KERNEL(op)
