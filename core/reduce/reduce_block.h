/* Reduces a block of elements to one value, in an order that all instruction sets share.
 *
 * 1. A block has at most REDUCE_BLOCK elements and REDUCE_PARTIALS partial results. Partial p reduces elements p, p +
 *    64, p + 128 ... in this order, starting from the identity.
 * 2. The partials are joined by halving: p with p + 32, then p with p + 16, p + 8, p + 4, p + 2 and p + 1.
 * Integers, which can be joined in any order with the same result, have REDUCE_FREE_PARTIALS, which fit registers.
 * The number of lanes decides only how many partials are computed at once, never which values are combined. So results
 * are bit-identical everywhere.
 *
 * reduce_block() reduces one block of contiguous elements, reduce_columns() a block of each of several adjacent
 * columns. Both treat elements and partials as the bits of 32-bit lanes, and inline the two functions that define the
 * operation: map() converts elements to the values that join() combines with the partials. Elements come from one
 * input, or pairwise from two. A block can be reduced in two ways at once, to two sets of partials: for example, sums
 * of deviations and sums of their squares. Loops over partials are unrolled explicitly: only then does every compiler
 * keep the partials in registers, even with -Os. */
#pragma once

#include "element.h"
#include "paths.h"
#include "reduce/reduce.h"

/* Whether elements are joined in the order above, or can be in any, with the same result. */
typedef enum reduce_order { REDUCE_IN_ORDER, REDUCE_ANY_ORDER } reduce_order;

enum {
    REDUCE_PARTIALS = 64,
    REDUCE_REGISTERS = REDUCE_PARTIALS / LANES,
    REDUCE_FREE_PARTIALS = LANES == 1 ? 16
    : LANES < 8                       ? 8 * LANES
                                      : REDUCE_PARTIALS,
    REDUCE_MAX_SETS = 2,
    /* The partials fill REDUCE_REGISTERS registers. One pass over a block computes at most REDUCE_PASS_REGISTERS of
     * these: the same number from every group of REDUCE_PERIOD adjacent registers, so that the first pass already
     * loads every cache line. Further passes compute the remaining registers. */
    REDUCE_PASS_REGISTERS = VF32_LANES == 4 ? 12 : 8,
    REDUCE_PERIOD = LANES < 4 ? 16 / LANES : 4,
    REDUCE_FITS_REGISTERS = REDUCE_REGISTERS <= 8, /* all partials fit in registers */
    REDUCE_UNROLL = LANES == 1 ? 2 : 8,            /* unroll factor of the loop that joins partials */
    REDUCE_STRIP = REDUCE_MAX_COLUMNS < 8 * LANES ? REDUCE_MAX_COLUMNS / LANES
    : VF32_LANES > 4                              ? 8
                                                  : 4,
    /* Whether to compute the partials of columns one after the other, because all would fill L1: unless rows are short,
     * so that prefetching needs their order, and a block of them is larger than L2. Measured on Zen 4, 2026-12. */
    REDUCE_BY_PARTIAL = VF32_LANES > 4 ? 1 : 0,
    REDUCE_FAR = 1024,     /* bytes from row to row that are many */
    REDUCE_NEAR = 1 << 18, /* bytes of a block that are few */
};

/* Loads n elements; the other lanes are zeros. */
INLINE vec reduce_load(const char *p, int n) {
    const element *x = (const element *)p;
    return n == LANES ? v_load(x) : v_load_partial(x, n, v_set(0));
}

/* Maps n elements at x and y to values that can be joined to partials, one vector per set; lanes n and up are ignored.
 * `state` is a value that the operation defines, such as a mean, and is the same for a whole block. */
typedef void reduce_map(const char *x, const char *y, int n, vbits state, vbits *mapped);
typedef void reduce_join(vbits *left, const vbits *right); /* stores the results in `left` */

/* One pass over a block: computes the partials in registers `first` .. `first` + `width` - 1 of every group of
 * REDUCE_PERIOD, from all elements of the block but the last count % partials. */
INLINE void reduce_pass(const char *x, const char *y, int partials, int first, int width, int64_t count, int sets,
                        vbits identity, vbits state, reduce_map *map, reduce_join *join,
                        vbits partial[][REDUCE_MAX_SETS]) {
    vbits kept[REDUCE_PASS_REGISTERS][REDUCE_MAX_SETS];
    int registers = partials / LANES / REDUCE_PERIOD * width;
#pragma GCC unroll 12
    for (int r = 0; r < registers; r++) {
        for (int s = 0; s < sets; s++) {
            kept[r][s] = identity;
        }
    }
    x += first * LANES * ELEMENT_SIZE, y += first * LANES * ELEMENT_SIZE;
    for (; count >= partials; count -= partials, x += partials * ELEMENT_SIZE, y += partials * ELEMENT_SIZE)
#pragma GCC unroll 12
        for (int r = 0; r < registers; r++) {
            int at = (r / width * REDUCE_PERIOD + r % width) * LANES * ELEMENT_SIZE;
            vbits mapped[REDUCE_MAX_SETS];
            map(x + at, y + at, LANES, state, mapped);
            join(kept[r], mapped);
        }
#pragma GCC unroll 12
    for (int r = 0; r < registers; r++) {
        for (int s = 0; s < sets; s++) {
            partial[r / width * REDUCE_PERIOD + first + r % width][s] = kept[r][s];
        }
    }
}

/* Joins the first LANES of the block's last n elements to `partial`, or all n if they are fewer. Unused lanes join
 * the identity, which changes nothing. */
INLINE void reduce_tail(const char *x, const char *y, int n, int sets, vbits identity, vbits state, reduce_map *map,
                        reduce_join *join, vbits *partial) {
    vbits mapped[REDUCE_MAX_SETS];
    PATH_IF(n >= LANES, "reduce: whole vector of a tail");
    PATH_IF(LANES > 1 && n < LANES, "reduce: part of a vector of a tail");
    if (n >= LANES) {
        map(x, y, LANES, state, mapped);
    } else {
        map(x, y, n, state, mapped);
        for (int s = 0; s < sets; s++) {
            mapped[s] = b_select(b_lt(b_iota(), b_set(n)), mapped[s], identity);
        }
    }
    join(partial, mapped);
}

/* Reduces a block of `count` contiguous elements to `partials`, a constant, and joins these. The result of each set is
 * in lane 0. */
INLINE void reduce_block(const reduce_source *from, int64_t count, int partials, int sets, vbits identity, vbits state,
                         reduce_map *map, reduce_join *join, vbits *results) {
    const char *x = from->x, *y = from->y;
    vbits partial[REDUCE_REGISTERS][REDUCE_MAX_SETS];
    int room = REDUCE_PASS_REGISTERS / (partials / LANES / REDUCE_PERIOD * sets),
        width = room < REDUCE_PERIOD ? room : REDUCE_PERIOD, first = 0;
    PATH_IF(count >= partials, "reduce: fills all partials");
    for (; first + width <= REDUCE_PERIOD; first += width) {
        reduce_pass(x, y, partials, first, width, count, sets, identity, state, map, join, partial);
    }
    if (REDUCE_PERIOD % width) {
        reduce_pass(x, y, partials, first, REDUCE_PERIOD % width, count, sets, identity, state, map, join, partial);
    }
    int tail = (int)(count % partials), registers = (tail + LANES - 1) / LANES;
    x += (count - tail) * ELEMENT_SIZE, y += (count - tail) * ELEMENT_SIZE;
#pragma GCC unroll REDUCE_FITS_REGISTERS ? 8 : 1
    for (int r = 0; r < (REDUCE_FITS_REGISTERS ? partials / LANES : registers); r++) {
        int at = r * LANES;
        if (r < registers) {
            reduce_tail(x + at * ELEMENT_SIZE, y + at * ELEMENT_SIZE, tail - at, sets, identity, state, map, join,
                        partial[r]);
        }
    }
#pragma GCC unroll 6
    for (int n = partials / LANES / 2; n; n /= 2)
#pragma GCC unroll REDUCE_UNROLL
        for (int r = 0; r < n; r++) {
            join(partial[r], partial[r + n]);
        }
#pragma GCC unroll 4
    for (int n = LANES / 2; n; n /= 2) {
        vbits values[REDUCE_MAX_SETS];
        for (int s = 0; s < sets; s++) {
            values[s] = b_slide_down(partial[0][s], n);
        }
        join(partial[0], values);
    }
    for (int s = 0; s < sets; s++) {
        results[s] = partial[0][s];
    }
}

/* Joins rows first, first + step ... of `registers` registers of adjacent columns to `results`. The last register has n
 * columns. */
INLINE void reduce_rows(const reduce_source *from, int64_t at, int64_t first, int64_t step, int64_t count,
                        int registers, int n, const vbits *state, reduce_map *map, reduce_join *join, vbits *results) {
    const char *x = from->x + at + first * from->x_stride, *y = from->y + at + first * from->y_stride;
    for (int64_t i = first; i < count; i += step, x += step * from->x_stride, y += step * from->y_stride) {
#pragma GCC unroll 16
        for (int r = 0; r < registers; r++) {
            vbits mapped;
            map(x + r * LANES * ELEMENT_SIZE, y + r * LANES * ELEMENT_SIZE, r + 1 < registers ? LANES : n, state[r],
                &mapped);
            join(results + r, &mapped);
        }
    }
}

/* Reduces registers of columns in the order of memory, with their partials in L1. If columns have fewer than
 * REDUCE_PARTIALS elements, computes only as many partials as elements, rounded up to a power of two, since joining an
 * empty partial changes nothing. */
INLINE void reduce_strip_by_row(const reduce_source *from, int64_t at, int64_t count, int registers, int n,
                                vbits identity, const vbits *state, reduce_map *map, reduce_join *join,
                                vbits *results) {
    vbits partial[REDUCE_PARTIALS * REDUCE_STRIP];
    int partials = 1;
    while (partials < REDUCE_PARTIALS && partials < count) {
        partials *= 2;
    }
    for (int p = 0; p < partials * registers; p++) {
        partial[p] = identity;
    }
    for (int64_t i = 0; i < count; i++) {
        reduce_rows(from, at, i, 1, i + 1, registers, n, state, map, join, partial + i % REDUCE_PARTIALS * registers);
    }
    for (int half = partials / 2; half; half /= 2) {
        for (int p = 0; p < half * registers; p++) {
            join(partial + p, partial + p + half * registers);
        }
    }
    for (int r = 0; r < registers; r++) {
        results[r] = partial[r];
    }
}

/* Computes one partial, of rows first, first + step ... */
INLINE void reduce_partial(const reduce_source *from, int64_t at, int64_t first, int64_t step, int64_t count,
                           int registers, int n, vbits identity, const vbits *state, reduce_map *map, reduce_join *join,
                           vbits *partial) {
#pragma GCC unroll 16
    for (int r = 0; r < registers; r++) {
        partial[r] = identity;
    }
    reduce_rows(from, at, first, step, count, registers, n, state, map, join, partial);
}

INLINE void reduce_join_all(vbits *left, const vbits *right, int registers, reduce_join *join) {
#pragma GCC unroll 16
    for (int r = 0; r < registers; r++) {
        join(left + r, right + r);
    }
}

/* Computes partials in registers, four of those at a time that step 2 joins with each other first, so that a quarter as
 * many are stored. */
INLINE void reduce_strip_by_partial(const reduce_source *from, int64_t at, int64_t count, int registers, int n,
                                    vbits identity, const vbits *state, reduce_map *map, reduce_join *join,
                                    vbits *results) {
    vbits joined[REDUCE_PARTIALS / 4][REDUCE_STRIP], next[REDUCE_STRIP], last[REDUCE_STRIP];
    int quarter = 1;
    while (4 * quarter < REDUCE_PARTIALS && 4 * quarter < count) {
        quarter *= 2;
    }
    for (int p = 0; p < quarter; p++) {
        for (int other = 0; other < 2; other++) {
            vbits *pair = other ? next : results;
            int64_t first = p + other * quarter;
            reduce_partial(from, at, first, REDUCE_PARTIALS, count, registers, n, identity, state, map, join, pair);
            reduce_partial(from, at, first + 2 * quarter, REDUCE_PARTIALS, count, registers, n, identity, state, map,
                           join, last);
            reduce_join_all(pair, last, registers, join);
        }
        reduce_join_all(results, next, registers, join);
#pragma GCC unroll 16
        for (int r = 0; r < registers; r++) {
            joined[p][r] = results[r];
        }
    }
    for (int half = quarter / 2; half; half /= 2) {
        for (int p = 0; p < half; p++) {
            reduce_join_all(joined[p], joined[p + half], registers, join);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < registers; r++) {
        results[r] = joined[0][r];
    }
}

/* Reduces `registers` registers of adjacent columns, beginning `at` bytes after the first column. The last register has
 * n columns. */
INLINE void reduce_strip(const reduce_source *from, int64_t at, int64_t count, int registers, int n, reduce_order order,
                         vbits identity, const vbits *state, reduce_map *map, reduce_join *join, vbits *results) {
    if (order == REDUCE_ANY_ORDER) {
        reduce_partial(from, at, 0, 1, count, registers, n, identity, state, map, join, results);
    } else if (REDUCE_BY_PARTIAL && registers > 1 &&
               (from->x_stride >= REDUCE_FAR || count * from->x_stride <= REDUCE_NEAR)) {
        PATH("reduce columns: by partial");
        reduce_strip_by_partial(from, at, count, registers, n, identity, state, map, join, results);
    } else {
        PATH("reduce columns: by row");
        reduce_strip_by_row(from, at, count, registers, n, identity, state, map, join, results);
    }
}

/* Reduces one block of each of `columns` <= REDUCE_MAX_COLUMNS adjacent columns: element i of column c is at
 * x + i * x_stride + c * ELEMENT_SIZE. `state` (NULL: zeros) and `results` have one value per column. */
INLINE void reduce_columns(const reduce_source *from, int64_t count, int64_t columns, reduce_order order,
                           vbits identity, const element_bits *state, reduce_map *map, reduce_join *join,
                           element_bits *results) {
    int64_t c = 0;
    for (; c + REDUCE_STRIP * LANES <= columns; c += REDUCE_STRIP * LANES) {
        PATH("reduce columns: several vectors");
        vbits states[REDUCE_STRIP], values[REDUCE_STRIP];
        for (int r = 0; r < REDUCE_STRIP; r++) {
            states[r] = state ? b_load(state + c + r * LANES) : b_set(0);
        }
        reduce_strip(from, c * ELEMENT_SIZE, count, REDUCE_STRIP, LANES, order, identity, states, map, join, values);
        for (int r = 0; r < REDUCE_STRIP; r++) {
            b_store(results + c + r * LANES, values[r]);
        }
    }
    for (; c < columns; c += LANES) {
        PATH_IF(columns - c >= LANES, "reduce columns: one vector");
        PATH_IF(LANES > 1 && columns - c < LANES, "reduce columns: part of a vector");
        int n = columns - c < LANES ? (int)(columns - c) : LANES;
        vbits states = state ? b_load_partial(state + c, n, identity) : b_set(0), values;
        reduce_strip(from, c * ELEMENT_SIZE, count, 1, n, order, identity, &states, map, join, &values);
        b_store_partial(results + c, values, n);
    }
}
