/* The largest and the smallest of floats, by IEEE 754-2019's maximum and minimum: NaN wins, and -0 is below 0.
 *
 * Where one instruction does that, it is slow; most processors need half a dozen. But one instruction is enough to
 * leave out NaN and the order of zeros. With it a block is folded, beside a sum that is NaN where an element is. Only
 * where the sum is NaN or the result a zero, a second pass looks for NaN and at the signs. Values may meet in any order
 * and more than once, so there are no partials as in reduce_block.h. */
#pragma once

#include "reduction.h"

/* Of some elements: the extreme value and the sum, or in the second pass the bits that all or any of them have and a
 * mask of NaN. */
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

/* Of the registers at x and at y. */
INLINE extreme extreme_pair(const float *x, const float *y, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    return extreme_joined(one(vf32_load(x)), one(vf32_load(y)), value, other);
}

enum { EXTREME_CHAINS = 4 };

/* Of at least 2 `chains` registers full of elements; the last turn takes again what is missing to a whole one. */
INLINE extreme extreme_run(const float *x, int64_t count, int chains, extreme_one *one, extreme_join *value,
                           extreme_join *other) {
    extreme all[EXTREME_CHAINS];
    int64_t turn = 2 * chains * VF32_LANES;
#pragma GCC unroll 4
    for (int r = 0; r < chains; r++) {
        all[r] = extreme_pair(x + 2 * r * VF32_LANES, x + (2 * r + 1) * VF32_LANES, one, value, other);
    }
    for (int64_t i = turn; i < count; i += turn) {
        const float *next = x + min_int64(i, count - turn);
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

/* The result is in lane 0. */
INLINE extreme extreme_pass(const float *x, int64_t count, float identity, extreme_one *one, extreme_join *value,
                            extreme_join *other) {
    extreme all;
    if (count >= 2 * EXTREME_CHAINS * VF32_LANES) {
        all = extreme_run(x, count, EXTREME_CHAINS, one, value, other);
    } else if (count >= 2 * VF32_LANES) {
        all = extreme_run(x, count, 1, one, value, other);
    } else if (count >= VF32_LANES) {
        all = extreme_pair(x, x + count - VF32_LANES, one, value, other);
    } else {
        all = one(vf32_load_partial(x, (int)count, vf32_set(identity)));
    }
    for (int n = VF32_LANES / 2; n; n /= 2) {
        all =
            extreme_joined(all, (extreme){vf32_slide_down(all.value, n), vf32_slide_down(all.other, n)}, value, other);
    }
    return all;
}

/* Defines the kernel lw_<op>_float32 for `op` max or min. `value_join` is the first pass's, `signs_join` the second's.
 * `joined` is exact, of the partials a and b; so is <op>_settled, once a first pass gave `value`: zeros without a sign
 * are the largest where all signs are set. */
#define EXTREME(op, identity, value_join, signs_join, joined)                                                  \
    RARE float op##_settled(const float *x, int64_t count, float value) {                                      \
        extreme signs = extreme_pass(x, count, identity, extreme_signs, signs_join, extreme_or);               \
        if (vi32_first(vf32_bits(signs.other))) return __builtin_nanf("");                                     \
        return value == 0 ? __builtin_copysignf(0, vf32_first(signs.value)) : value;                           \
    }                                                                                                          \
    static void op##_block_float32(const reduce_source *from, int64_t start, int64_t count, reduced *result) { \
        (void)start;                                                                                           \
        const float *x = (const float *)from->x;                                                               \
        extreme all = extreme_pass(x, count, identity, extreme_plain, value_join, vf32_add_on_fma_unit);       \
        float value = vf32_first(all.value), sum = vf32_first(all.other);                                      \
        if (sum != sum || value == 0) value = op##_settled(x, count, value);                                   \
        __builtin_memcpy(&result->bits, &value, sizeof value);                                                 \
    }                                                                                                          \
    BLOCK_REDUCTION_STEPS(op, float32, float32, x, joined)                                                     \
    REDUCTION_BY(1, op, float32, float32, vf32_set(identity), total)
