/* Reductions whose elements can be joined in any order and more than once: max, min, and any and all of integers of 1
 * and 2 bytes.
 *
 * Of floats, max and min are maximum and minimum of IEEE 754-2019: the result is NaN if any element is NaN, and -0 is
 * less than 0. Some processors do this in one slow instruction; most need half a dozen instructions. If NaN and the
 * order of zeros are ignored, one fast instruction suffices, so:
 * 1. Reduce the block with the fast instruction, and sum its elements; the sum is NaN if an element is.
 * 2. Only if the sum is NaN or the result is zero, read the block again to find NaN and to combine the signs.
 * Neither step follows the order of reduce_block.h. */
#pragma once

#include "reduce/reduction.h"

/* The result of reducing some elements. In step 1, `value` is their largest or smallest value, and `other` their sum.
 * In step 2, `value` is the AND or OR of their bits, and `other` a mask that is nonzero if one of them is NaN. */
typedef struct extreme {
    vec value, other;
} extreme;

typedef extreme extreme_one(vec x);
typedef vec extreme_join(vec x, vec y);

INLINE extreme extreme_plain(vec x) { return (extreme){x, x}; }
#if IS_FLOATING
INLINE extreme extreme_signs(vec x) { return (extreme){x, v_from_bits(v_isnan(x))}; }
INLINE vec extreme_and(vec x, vec y) { return v_from_bits(b_and(v_bits(x), v_bits(y))); }
INLINE vec extreme_or(vec x, vec y) { return v_from_bits(b_or(v_bits(x), v_bits(y))); }
#endif

INLINE extreme extreme_joined(extreme a, extreme b, extreme_join *value, extreme_join *other) {
    return (extreme){value(a.value, b.value), other(a.other, b.other)};
}

/* Applies `one` to the vectors at x and at y, and combines the results. */
INLINE extreme extreme_pair(const element *x, const element *y, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    return extreme_joined(one(v_load(x)), one(v_load(y)), value, other);
}

enum { EXTREME_CHAINS = 4 };

/* Reduces at least 2 * `chains` vectors of elements, in independent chains. The last iteration may reread some
 * elements of the previous iteration. */
INLINE extreme extreme_run(const element *x, int64_t count, int chains, extreme_one *one, extreme_join *value,
                           extreme_join *other) {
    extreme all[EXTREME_CHAINS];
    int64_t step = 2 * chains * LANES;
#pragma GCC unroll 4
    for (int r = 0; r < chains; r++) {
        all[r] = extreme_pair(x + 2 * r * LANES, x + (2 * r + 1) * LANES, one, value, other);
    }
    for (int64_t i = step; i < count; i += step) {
        const element *next = x + min_int64(i, count - step);
#pragma GCC unroll 4
        for (int r = 0; r < chains; r++, next += 2 * LANES) {
            all[r] = extreme_joined(all[r], extreme_pair(next, next + LANES, one, value, other), value, other);
        }
    }
#pragma GCC unroll 4
    for (int r = 1; r < chains; r++) {
        all[0] = extreme_joined(all[0], all[r], value, other);
    }
    return all[0];
}

/* Reduces `count` elements; the result is in lane 0. */
INLINE extreme extreme_pass(const element *x, int64_t count, element identity, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    extreme all;
    if (count >= 2 * EXTREME_CHAINS * LANES) {
        PATH("extreme: several chains");
        all = extreme_run(x, count, EXTREME_CHAINS, one, value, other);
    } else if (count >= 2 * LANES) {
        PATH("extreme: one chain");
        all = extreme_run(x, count, 1, one, value, other);
    } else if (count >= LANES) {
        PATH("extreme: one pair");
        all = extreme_pair(x, x + count - LANES, one, value, other);
    } else {
        PATH_IF(LANES > 1, "extreme: part of a vector");
        all = one(v_load_partial(x, (int)count, v_set(identity)));
    }
    for (int n = LANES / 2; n; n /= 2) {
        all = extreme_joined(all, (extreme){v_slide_down(all.value, n), v_slide_down(all.other, n)}, value, other);
    }
    return all;
}

/* Defines the kernel lw_<op>_<dtype> for `op` max or min of floats. `value_join` combines values in step 1 above. In
 * step 2, which <op>_exact runs, `signs_join` combines the signs into that of a zero result: it is AND for max, and OR
 * for min. `joined` is an expression that combines two partial results a and b, and handles NaN and signed zeros. */
#define EXTREME(op, identity, value_join, signs_join, joined)                                          \
    RARE element op##_exact(const element *x, int64_t count, element value) {                          \
        extreme signs = extreme_pass(x, count, identity, extreme_signs, signs_join, extreme_or);       \
        if (b_first(v_bits(signs.other))) return (element)__builtin_nanf("");                          \
        return value == 0 ? v_first(v_copysign(v_set(0), signs.value)) : value;                        \
    }                                                                                                  \
    static void op##_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        const element *x = (const element *)from->x;                                                   \
        extreme all = extreme_pass(x, count, identity, extreme_plain, value_join, v_add_on_fma_unit);  \
        element value = v_first(all.value), sum = v_first(all.other);                                  \
        if (sum != sum || value == 0) value = op##_exact(x, count, value);                             \
        __builtin_memcpy(&result->bits, &value, sizeof value);                                         \
    }                                                                                                  \
    BLOCK_REDUCTION_STEPS(op, vec, x, joined)                                                          \
    REDUCTION_BY(op, 1, vec, element, REDUCE_ANY_ORDER, v_set(identity), total, 1, REDUCE_UNDECIDED, NULL)

/* Defines such a reduction of integers: `joined` is an expression of a and b, vectors of elements or of the values that
 * `mapped`, an expression of x, makes of them. */
#define EXTREME_INTEGERS(op, output, identity, mapped, joined, finished, is_total, decision, own)           \
    INLINE extreme op##_one(vec x) { return extreme_plain(mapped); }                                        \
    INLINE vec op##_joined(vec a, vec b) { return joined; }                                                 \
    static void op##_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {      \
        const element *x = (const element *)from->x;                                                        \
        result->bits = v_first(extreme_pass(x, count, identity, op##_one, op##_joined, op##_joined).value); \
    }                                                                                                       \
    BLOCK_REDUCTION_STEPS(op, vec, mapped, joined)                                                          \
    REDUCTION_BY(op, 1, vec, output, REDUCE_ANY_ORDER, v_set(identity), finished, is_total, decision, own)
