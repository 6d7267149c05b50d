/* The largest and the smallest of floats, by IEEE 754-2019's maximum and minimum: NaN wins, and -0 is below 0.
 *
 * Where one instruction does that, it is slow; most processors need half a dozen. But one instruction is enough to
 * leave out NaN and the order of zeros. With it a block is folded, beside a sum that is NaN where an element is. Only
 * where the sum is NaN or the result a zero, a second pass looks for NaN and at the signs. Values may meet in any order
 * and more than once, so there are no partials as in fold.h. */
#ifndef LANEWISE_EXTREME_H
#define LANEWISE_EXTREME_H

#include "reduction.h"

/* What the first pass finds, the extreme value and the sum; and the second, bits of all or of any and a mask of NaN. */
typedef struct extreme {
    vf32 value, other;
} extreme;

typedef extreme extreme_pair(vf32 x, vf32 y);       /* of two elements */
typedef extreme extreme_join(extreme a, extreme b); /* of some and of others */

LANE extreme max_pair(vf32 x, vf32 y) { return (extreme){vf32_at_least(x, y), vf32_add_by_fma(x, y)}; }
LANE extreme min_pair(vf32 x, vf32 y) { return (extreme){vf32_at_most(x, y), vf32_add_by_fma(x, y)}; }
LANE extreme max_join(extreme a, extreme b) {
    return (extreme){vf32_at_least(a.value, b.value), vf32_add_by_fma(a.other, b.other)};
}
LANE extreme min_join(extreme a, extreme b) {
    return (extreme){vf32_at_most(a.value, b.value), vf32_add_by_fma(a.other, b.other)};
}

LANE vf32 extreme_and(vf32 x, vf32 y) { return vf32_from_bits(vi32_and(vf32_bits(x), vf32_bits(y))); }
LANE vf32 extreme_or(vf32 x, vf32 y) { return vf32_from_bits(vi32_or(vf32_bits(x), vf32_bits(y))); }
LANE vf32 extreme_nan(vf32 x, vf32 y) { return vf32_from_bits(vm32_or(vf32_isnan(x), vf32_isnan(y))); }
LANE extreme max_pair_signs(vf32 x, vf32 y) { return (extreme){extreme_and(x, y), extreme_nan(x, y)}; }
LANE extreme min_pair_signs(vf32 x, vf32 y) { return (extreme){extreme_or(x, y), extreme_nan(x, y)}; }
LANE extreme max_join_signs(extreme a, extreme b) {
    return (extreme){extreme_and(a.value, b.value), extreme_or(a.other, b.other)};
}
LANE extreme min_join_signs(extreme a, extreme b) {
    return (extreme){extreme_or(a.value, b.value), extreme_or(a.other, b.other)};
}

enum { EXTREME_CHAINS = 4 };

/* Of at least 2 `chains` registers full of elements; the last turn takes again what is missing to a whole one. */
LANE extreme extreme_run(const float *x, int64_t count, int chains, extreme_pair *pair, extreme_join *join) {
    extreme all[EXTREME_CHAINS];
    int64_t turn = 2 * chains * VF32_LANES;
#pragma GCC unroll 4
    for (int r = 0; r < chains; r++)
        all[r] = pair(vf32_load(x + 2 * r * VF32_LANES), vf32_load(x + (2 * r + 1) * VF32_LANES));
    for (int64_t i = turn; i < count; i += turn) {
        const float *next = x + min_int64(i, count - turn);
#pragma GCC unroll 4
        for (int r = 0; r < chains; r++)
            all[r] =
                join(all[r], pair(vf32_load(next + 2 * r * VF32_LANES), vf32_load(next + (2 * r + 1) * VF32_LANES)));
    }
#pragma GCC unroll 4
    for (int r = 1; r < chains; r++) all[0] = join(all[0], all[r]);
    return all[0];
}

/* The result is in lane 0. */
LANE extreme extreme_pass(const float *x, int64_t count, float identity, extreme_pair *pair, extreme_join *join) {
    extreme all;
    if (count >= 2 * EXTREME_CHAINS * VF32_LANES) {
        all = extreme_run(x, count, EXTREME_CHAINS, pair, join);
    } else if (count >= 2 * VF32_LANES) {
        all = extreme_run(x, count, 1, pair, join);
    } else if (count >= VF32_LANES) {
        all = pair(vf32_load(x), vf32_load(x + count - VF32_LANES));
    } else {
        vf32 some = vf32_load_partial(x, (int)count, vf32_set(identity));
        all = pair(some, some);
    }
    for (int n = VF32_LANES / 2; n; n /= 2)
        all = join(all, (extreme){vf32_fold(all.value, n), vf32_fold(all.other, n)});
    return all;
}

/* Defines the kernel lw_<op>_float32 for `op` max or min. `joined` is exact, of the partials a and b; so is
 * <op>_settled, once a first pass gave `value`: zeros without a sign are the largest where all signs are set. */
#define EXTREME(op, identity, joined)                                                                        \
    RARE float op##_settled(const float *x, int64_t count, float value) {                                    \
        extreme signs = extreme_pass(x, count, identity, op##_pair_signs, op##_join_signs);                  \
        if (vi32_first(vf32_bits(signs.other))) return __builtin_nanf("");                                   \
        return value == 0 ? __builtin_copysignf(0, vf32_first(signs.value)) : value;                         \
    }                                                                                                        \
    static void op##_block_float32(const fold_source *from, int64_t start, int64_t count, reduced *result) { \
        (void)start;                                                                                         \
        const float *x = (const float *)from->x;                                                             \
        extreme all = extreme_pass(x, count, identity, op##_pair, op##_join);                                \
        float value = vf32_first(all.value), sum = vf32_first(all.other);                                    \
        if (sum != sum || value == 0) value = op##_settled(x, count, value);                                 \
        __builtin_memcpy(&result->bits, &value, sizeof value);                                               \
    }                                                                                                        \
    FOLD_STEPS(op, float32, float32, x, joined)                                                              \
    REDUCTION_BY(1, op, float32, float32, vf32_set(identity), total)

#endif
