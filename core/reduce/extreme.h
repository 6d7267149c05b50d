/* max and min of floats, as maximum and minimum of IEEE 754-2019: the result is NaN if any element is NaN, and -0 is
 * less than 0.
 *
 * Some processors do this in one slow instruction; most need half a dozen instructions. If NaN and the order of
 * zeros are ignored, one fast instruction suffices, so:
 * 1. Reduce the block with the fast instruction, and sum its elements; the sum is NaN if an element is.
 * 2. Only if the sum is NaN or the result is zero, read the block again to find NaN and to combine the signs.
 * Elements may be combined in any order and more than once, so neither step follows the order of reduce_block.h. */
#pragma once

#include "reduce/reduction.h"

/* The result of reducing some elements. In step 1, `value` is their largest or smallest value, and `other` their sum.
 * In step 2, `value` is the AND or OR of their bits, and `other` a mask that is nonzero if one of them is NaN. */
typedef struct extreme {
    vf32 value, other;
} extreme;

typedef extreme extreme_one(vf32 x);
typedef vf32 extreme_join(vf32 x, vf32 y);

INLINE extreme extreme_plain(vf32 x) { return (extreme){x, x}; }
INLINE extreme extreme_signs(vf32 x) { return (extreme){x, vf32_from_bits(vf32_isnan(x))}; }
INLINE vf32 extreme_and(vf32 x, vf32 y) { return vf32_from_bits(vi32_and(vf32_bits(x), vf32_bits(y))); }
INLINE vf32 extreme_or(vf32 x, vf32 y) { return vf32_from_bits(vi32_or(vf32_bits(x), vf32_bits(y))); }

INLINE extreme extreme_joined(extreme a, extreme b, extreme_join *value, extreme_join *other) {
    return (extreme){value(a.value, b.value), other(a.other, b.other)};
}

/* Applies `one` to the vectors at x and at y, and combines the results. */
INLINE extreme extreme_pair(const float *x, const float *y, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    return extreme_joined(one(vf32_load(x)), one(vf32_load(y)), value, other);
}

enum { EXTREME_CHAINS = 4 };

/* Reduces at least 2 * `chains` vectors of elements, in independent chains. The last iteration may reread some
 * elements of the previous iteration. */
INLINE extreme extreme_run(const float *x, int64_t count, int chains, extreme_one *one, extreme_join *value,
                           extreme_join *other) {
    extreme all[EXTREME_CHAINS];
    int64_t step = 2 * chains * VF32_LANES;
#pragma GCC unroll 4
    for (int r = 0; r < chains; r++) {
        all[r] = extreme_pair(x + 2 * r * VF32_LANES, x + (2 * r + 1) * VF32_LANES, one, value, other);
    }
    for (int64_t i = step; i < count; i += step) {
        const float *next = x + min_int64(i, count - step);
#pragma GCC unroll 4
        for (int r = 0; r < chains; r++, next += 2 * VF32_LANES) {
            all[r] = extreme_joined(all[r], extreme_pair(next, next + VF32_LANES, one, value, other), value, other);
        }
    }
#pragma GCC unroll 4
    for (int r = 1; r < chains; r++) {
        all[0] = extreme_joined(all[0], all[r], value, other);
    }
    return all[0];
}

/* Reduces `count` elements; the result is in lane 0. */
INLINE extreme extreme_pass(const float *x, int64_t count, float identity, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    extreme all;
    if (count >= 2 * EXTREME_CHAINS * VF32_LANES) {
        PATH("extreme: several chains");
        all = extreme_run(x, count, EXTREME_CHAINS, one, value, other);
    } else if (count >= 2 * VF32_LANES) {
        PATH("extreme: one chain");
        all = extreme_run(x, count, 1, one, value, other);
    } else if (count >= VF32_LANES) {
        PATH("extreme: one pair");
        all = extreme_pair(x, x + count - VF32_LANES, one, value, other);
    } else {
        PATH_IF(VF32_LANES > 1, "extreme: part of a vector");
        all = one(vf32_load_partial(x, (int)count, vf32_set(identity)));
    }
    for (int n = VF32_LANES / 2; n; n /= 2) {
        all =
            extreme_joined(all, (extreme){vf32_slide_down(all.value, n), vf32_slide_down(all.other, n)}, value, other);
    }
    return all;
}

/* Defines the kernel lw_<op>_float32 for `op` max or min. `value_join` combines values in step 1 above. In step 2,
 * which <op>_exact runs, `signs_join` combines the signs into that of a zero result: it is AND for max, and OR for min.
 * `joined` is an expression that combines two partial results a and b, and handles NaN and signed zeros. */
#define EXTREME(op, identity, value_join, signs_join, joined)                                                  \
    RARE float op##_exact(const float *x, int64_t count, float value) {                                        \
        extreme signs = extreme_pass(x, count, identity, extreme_signs, signs_join, extreme_or);               \
        if (vi32_first(vf32_bits(signs.other))) return __builtin_nanf("");                                     \
        return value == 0 ? __builtin_copysignf(0, vf32_first(signs.value)) : value;                           \
    }                                                                                                          \
    static void op##_block_float32(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        const float *x = (const float *)from->x;                                                               \
        extreme all = extreme_pass(x, count, identity, extreme_plain, value_join, vf32_add_on_fma_unit);       \
        float value = vf32_first(all.value), sum = vf32_first(all.other);                                      \
        if (sum != sum || value == 0) value = op##_exact(x, count, value);                                     \
        __builtin_memcpy(&result->bits, &value, sizeof value);                                                 \
    }                                                                                                          \
    BLOCK_REDUCTION_STEPS(op, float32, float32, x, joined)                                                     \
    REDUCTION_BY(1, op, float32, float32, vf32_set(identity), total)
