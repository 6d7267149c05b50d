/* Prefix sums: each element becomes the sum of all elements up to and including it.
 *
 * 1. In a tile of 64 elements: in each group of 2, then 4, 8 ... 64 elements, add the last element of the lower half
 *    to each element of the upper half. The first steps are within registers, the later ones between them. The number
 *    of lanes decides only where a step happens, not which elements are added, so the result is bit-identical on every
 *    instruction set.
 * 2. Add the sum of all earlier tiles, which for float32 is kept in double: the error does not grow with the length.
 * Source: Sklansky, "Conditional-sum addition logic", 1960. */
#pragma once

#include "rows.h"

enum { SCAN_TILE = 64, SCAN_REGISTERS = SCAN_TILE / VF32_LANES };

/* `zero` is the identity of addition, -0 for floats; `wide` is the type of the sum of earlier tiles. */
#define CUMULATIVE_SUM(dtype, lanes, item, wide, zero)                                                                 \
    INLINE wide scan_tile_##dtype(const item *from, item *to, wide before) {                                           \
        lanes x[SCAN_REGISTERS];                                                                                       \
        for (int r = 0; r < SCAN_REGISTERS; r++) {                                                                     \
            x[r] = lanes##_load(from + r * VF32_LANES);                                                                \
            _Pragma("GCC unroll 4") for (int n = 1; n < VF32_LANES; n *= 2) {                                          \
                vm32 upper = vi32_ne(vi32_and(vi32_iota(), vi32_set(n)), vi32_set(0));                                 \
                x[r] = lanes##_select(upper, x[r] + lanes##_spread(x[r], n), x[r]);                                    \
            }                                                                                                          \
        }                                                                                                              \
        for (int n = 1; n < SCAN_REGISTERS; n *= 2)                                                                    \
            for (int r = 0; r < SCAN_REGISTERS; r++)                                                                   \
                if (r & n) x[r] = x[r] + lanes##_set(lanes##_last(x[(r & ~(2 * n - 1)) + n - 1]));                     \
        wide after = before + (wide)lanes##_last(x[SCAN_REGISTERS - 1]);                                               \
        for (int r = 0; r < SCAN_REGISTERS; r++) lanes##_store(to + r * VF32_LANES, x[r] + lanes##_set((item)before)); \
        return after;                                                                                                  \
    }                                                                                                                  \
    static void cumulative_sum_row_##dtype(const row *r) {                                                             \
        item packed[ROW_CHUNK], last[SCAN_TILE];                                                                       \
        wide before = zero;                                                                                            \
        for (int64_t start = 0; start < r->length; start += ROW_CHUNK) {                                               \
            int64_t count = min_int64(r->length - start, ROW_CHUNK), i = 0;                                            \
            const item *x = row_read(r->in[0], start, count, packed);                                                  \
            item *result = row_result(r, start, packed);                                                               \
            for (; i < count; i += SCAN_TILE) {                                                                        \
                int64_t n = min_int64(count - i, SCAN_TILE);                                                           \
                for (int64_t k = 0; k < SCAN_TILE && n < SCAN_TILE; k++) last[k] = k < n ? x[i + k] : zero;            \
                int whole = n == SCAN_TILE;                                                                            \
                before = scan_tile_##dtype(whole ? x + i : last, whole ? result + i : last, before);                   \
                if (!whole) copy_strided((char *)(result + i), ROW_ITEM, (const char *)last, ROW_ITEM, n, ROW_ITEM);   \
            }                                                                                                          \
            row_write(r, start, count, result);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    ROWS(cumulative_sum, dtype, 1)

CUMULATIVE_SUM(float32, vf32, float, double, -0.0f)
CUMULATIVE_SUM(int32, vi32, int32_t, uint32_t, 0)
