/* Folding elements into one value in the order that every instruction set shares.
 *
 * A block has at most FOLD_BLOCK elements and FOLD_PARTIALS partial results. Partial p takes elements p, p + 64,
 * p + 128 ... in this order, starting from the identity, and stays the identity where there are none. Then the
 * partials are joined by halving: p with p + 32, then with p + 16, 8, 4, 2, 1. How many lanes a register has decides
 * only how many partials are at work at once, never which values meet: the bits are the same everywhere.
 *
 * The two loops here, along a block and across neighbouring blocks in memory, see elements and partials as the bits
 * of 32-bit lanes, and take the operation as two functions that vanish when they are inlined. Elements are of one
 * input, or of two and go together. The loops over partials are unrolled on request: only then are they kept in
 * registers, also by a compiler that saves space. */
#ifndef LANEWISE_FOLD_H
#define LANEWISE_FOLD_H

#include "simd/simd.h"

enum {
    FOLD_BLOCK = 4096,
    FOLD_PARTIALS = 64,
    FOLD_REGISTERS = FOLD_PARTIALS / VF32_LANES,
    FOLD_GROUP = FOLD_REGISTERS < 8 ? FOLD_REGISTERS : 8, /* partials kept in registers at once */
    FOLD_COLUMNS = 32                                     /* outputs that fold_columns works on at most */
};

/* Where the elements are. With one input y is x. */
typedef struct fold_source {
    const char *x, *y;
    int64_t x_stride, y_stride; /* across blocks: to the next element of a block */
} fold_source;

/* What n elements at x and y (n <= lanes; lanes beyond are of no interest) contribute to their partials. `state` is for
 * the operation to define; it is the same for a whole block. */
typedef vi32 fold_map(const char *x, const char *y, int n, vi32 state);
typedef vi32 fold_join(vi32 left, vi32 right);

LANE vi32 fold_lanes(vi32 x, fold_join *join) {
    for (int n = VF32_LANES / 2; n; n /= 2) x = join(x, vi32_fold(x, n));
    return x;
}

/* The next n elements of a register of partials, where the block may end before or within them. */
LANE vi32 fold_tail(vi32 partial, const char *x, const char *y, int64_t n, vi32 state, fold_map *map, fold_join *join) {
    if (n <= 0) return partial;
    if (n >= VF32_LANES) return join(partial, map(x, y, VF32_LANES, state));
    vi32 joined = join(partial, map(x, y, (int)n, state));
    return vi32_select(vi32_lt(vi32_iota(), vi32_set((int32_t)n)), joined, partial);
}

/* A block of `count` contiguous elements of `size` bytes; the result is in lane 0. */
LANE vi32 fold_block(const fold_source *from, int64_t count, int size, vi32 identity, vi32 state, fold_map *map,
                     fold_join *join) {
    const char *x = from->x, *y = from->y;
    vi32 partial[FOLD_REGISTERS];
    int64_t full = count / FOLD_PARTIALS * FOLD_PARTIALS;
    for (int first = 0; first < FOLD_REGISTERS; first += FOLD_GROUP) {
        vi32 group[FOLD_GROUP];
#pragma GCC unroll 16
        for (int r = 0; r < FOLD_GROUP; r++) group[r] = identity;
        for (int64_t i = first * VF32_LANES; i < full; i += FOLD_PARTIALS)
#pragma GCC unroll 16
            for (int r = 0; r < FOLD_GROUP; r++)
                group[r] = join(
                    group[r], map(x + (i + r * VF32_LANES) * size, y + (i + r * VF32_LANES) * size, VF32_LANES, state));
#pragma GCC unroll 16
        for (int r = 0; r < FOLD_GROUP; r++) partial[first + r] = group[r];
    }
    for (int r = 0; r < FOLD_REGISTERS && full + r * VF32_LANES < count; r++) {
        int64_t i = full + r * VF32_LANES;
        partial[r] = fold_tail(partial[r], x + i * size, y + i * size, count - i, state, map, join);
    }
    for (int n = FOLD_REGISTERS / 2; n; n /= 2)
        for (int r = 0; r < n; r++) partial[r] = join(partial[r], partial[r + n]);
    return fold_lanes(partial[0], join);
}

/* `registers` registers of neighbouring columns, `at` bytes from the first, the last with n of them in use. Partials that have no elements
 * are left out: joining the identity changes nothing. The others are visited in the order that lets a stack of one
 * value per level join them as halving would: with their numbers' bits reversed. */
LANE void fold_strip(const fold_source *from, int64_t at, int64_t count, int size, int registers, int n, vi32 identity,
                     const vi32 *state, fold_map *map, fold_join *join, vi32 *results) {
    const char *x = from->x + at, *y = from->y + at;
    vi32 level[7][4];
    int bits = 0;
    while (bits < 6 && (1 << bits) < count) bits++;
    for (int turn = 0; turn < 1 << bits; turn++) {
        int p = 0;
        for (int b = 0; b < bits; b++) p |= (turn >> b & 1) << (bits - 1 - b);
        vi32 partial[4];
#pragma GCC unroll 16
        for (int r = 0; r < registers; r++) partial[r] = identity;
        for (int64_t i = p; i < count; i += FOLD_PARTIALS)
#pragma GCC unroll 16
            for (int r = 0; r < registers; r++)
                partial[r] = join(partial[r], map(x + i * from->x_stride + r * VF32_LANES * size,
                                                  y + i * from->y_stride + r * VF32_LANES * size,
                                                  r + 1 < registers ? VF32_LANES : n, state[r]));
        int depth = 0;
        for (int pending = turn; pending & 1; pending >>= 1, depth++)
            for (int r = 0; r < registers; r++) partial[r] = join(level[depth][r], partial[r]);
        for (int r = 0; r < registers; r++) level[depth][r] = partial[r];
    }
    for (int r = 0; r < registers; r++) results[r] = level[bits][r];
}

/* One block of each of `columns` <= FOLD_COLUMNS outputs that lie side by side: element i of column c is at
 * x + i * x_stride + c * size. `state` (or NULL: zeros) and `results` have one value per column. */
LANE void fold_columns(const fold_source *from, int64_t count, int64_t columns, int size, vi32 identity,
                       const int32_t *state, fold_map *map, fold_join *join, int32_t *results) {
    enum { REGISTERS = FOLD_COLUMNS / VF32_LANES < 4 ? FOLD_COLUMNS / VF32_LANES : 4 };
    int64_t c = 0;
    for (; c + REGISTERS * VF32_LANES <= columns; c += REGISTERS * VF32_LANES) {
        vi32 states[4], folded[4];
        for (int r = 0; r < REGISTERS; r++) states[r] = state ? vi32_load(state + c + r * VF32_LANES) : vi32_set(0);
        fold_strip(from, c * size, count, size, REGISTERS, VF32_LANES, identity, states, map, join, folded);
        for (int r = 0; r < REGISTERS; r++) vi32_store(results + c + r * VF32_LANES, folded[r]);
    }
    for (; c < columns; c += VF32_LANES) {
        int n = columns - c < VF32_LANES ? (int)(columns - c) : VF32_LANES;
        vi32 states = state ? vi32_load_partial(state + c, n, identity) : vi32_set(0), folded;
        fold_strip(from, c * size, count, size, 1, n, identity, &states, map, join, &folded);
        vi32_store_partial(results + c, folded, n);
    }
}

/* Elements of each dtype that can be folded, as lanes. */
typedef float item_float32;
typedef int32_t item_int32;
typedef uint8_t item_bool;
typedef vf32 lane_float32;
typedef vi32 lane_int32;
typedef vm32 lane_bool;
typedef float scalar_float32; /* one partial */
typedef int32_t scalar_int32;
typedef int32_t scalar_bool; /* 0 or -1 */

LANE vf32 lane_load_float32(const char *p, int n) {
    const float *x = (const float *)p;
    return n == VF32_LANES ? vf32_load(x) : vf32_load_partial(x, n, vf32_set(0));
}
LANE vi32 lane_load_int32(const char *p, int n) {
    const int32_t *x = (const int32_t *)p;
    return n == VF32_LANES ? vi32_load(x) : vi32_load_partial(x, n, vi32_set(0));
}
LANE vm32 lane_load_bool(const char *p, int n) {
    const uint8_t *x = (const uint8_t *)p;
    return n == VF32_LANES ? vm32_load_bool(x) : vm32_load_partial_bool(x, n, vm32_set(0));
}

#endif
