/* Prefix sums: each element becomes the sum of all elements up to and including it.
 *
 * 1. In a tile of 64 elements: in each group of 2, then 4, 8 ... 64 elements, add the last element of the lower half
 *    to each element of the upper half. The first steps are within registers, the later ones between them. The number
 *    of lanes decides only where a step happens, not which elements are added, so the result is bit-identical on every
 *    instruction set.
 * 2. Add the sum of all earlier tiles, which for float32 is kept in double: the error does not grow with the length.
 * Source: Sklansky, "Conditional-sum addition logic", 1960.
 *
 * Tasks that divide a row scan it twice: first for the sums of the tiles, then, once these have been added up, for the
 * results. So two threads would gain nothing. */
#pragma once

#include "reduce/rows.h"

enum { SCAN_TILE = 64, SCAN_REGISTERS = SCAN_TILE / VF32_LANES, SCAN_MIN_THREADS = 4 };

/* What the tasks that divide a row share. */
typedef struct scan_call {
    const row *r;
    void *sums;       /* of each tile */
    void *before;     /* sum of all tiles before each chunk */
    int64_t per_task; /* elements, in whole chunks */
} scan_call;

/* `zero` is the identity of addition, -0 for floats; `wide` is the type of the sum of earlier tiles.
 *
 * scan_chunks scans elements start to end - 1, given the sum of the elements before. If `sums` is NULL, it writes the
 * results; otherwise it writes only the sum of each tile to `sums`. scan_by_tasks returns whether there was memory for
 * these sums. */
#define CUMULATIVE_SUM(dtype, lanes, item, wide, zero)                                                       \
    INLINE void scan_tile_##dtype(const item *from, lanes *x) {                                              \
        for (int r = 0; r < SCAN_REGISTERS; r++) {                                                           \
            x[r] = lanes##_load(from + r * VF32_LANES);                                                      \
            _Pragma("GCC unroll 4") for (int n = 1; n < VF32_LANES; n *= 2) {                                \
                vm32 upper = vi32_ne(vi32_and(vi32_iota(), vi32_set(n)), vi32_set(0));                       \
                x[r] = lanes##_select(upper, x[r] + lanes##_spread(x[r], n), x[r]);                          \
            }                                                                                                \
        }                                                                                                    \
        for (int n = 1; n < SCAN_REGISTERS; n *= 2)                                                          \
            for (int r = 0; r < SCAN_REGISTERS; r++)                                                         \
                if (r & n) x[r] = x[r] + lanes##_set(lanes##_last(x[(r & ~(2 * n - 1)) + n - 1]));           \
    }                                                                                                        \
                                                                                                             \
    static void scan_chunks_##dtype(const row *r, int64_t start, int64_t end, wide before, item *sums) {     \
        item packed[ROW_CHUNK], last[SCAN_TILE];                                                             \
        for (; start < end; start += ROW_CHUNK) {                                                            \
            int64_t count = min_int64(end - start, ROW_CHUNK);                                               \
            const item *x = row_read(r->in[0], start, count, packed);                                        \
            item *result = row_result(r, start, packed);                                                     \
            for (int64_t i = 0; i < count; i += SCAN_TILE) {                                                 \
                int64_t n = min_int64(count - i, SCAN_TILE);                                                 \
                for (int64_t k = 0; k < SCAN_TILE && n < SCAN_TILE; k++) last[k] = k < n ? x[i + k] : zero;  \
                lanes scanned[SCAN_REGISTERS];                                                               \
                scan_tile_##dtype(n == SCAN_TILE ? x + i : last, scanned);                                   \
                item sum = lanes##_last(scanned[SCAN_REGISTERS - 1]);                                        \
                if (sums) {                                                                                  \
                    sums[(start + i) / SCAN_TILE] = sum;                                                     \
                    continue;                                                                                \
                }                                                                                            \
                item *to = n == SCAN_TILE ? result + i : last;                                               \
                for (int v = 0; v < SCAN_REGISTERS; v++)                                                     \
                    lanes##_store(to + v * VF32_LANES, scanned[v] + lanes##_set((item)before));              \
                if (n < SCAN_TILE)                                                                           \
                    copy_strided((char *)(result + i), ROW_ITEM, (const char *)last, ROW_ITEM, n, ROW_ITEM); \
                before = before + (wide)sum;                                                                 \
            }                                                                                                \
            if (!sums) row_write(r, start, count, result);                                                   \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static lw_status scan_sum_task_##dtype(lw_context *context, int64_t task, const void *argument) {        \
        const scan_call *c = argument;                                                                       \
        int64_t start = task * c->per_task, end = min_int64(start + c->per_task, c->r->length);              \
        scan_chunks_##dtype(c->r, start, end, zero, c->sums);                                                \
        return LW_OK;                                                                                        \
    }                                                                                                        \
    static lw_status scan_task_##dtype(lw_context *context, int64_t task, const void *argument) {            \
        const scan_call *c = argument;                                                                       \
        const wide *before = c->before;                                                                      \
        int64_t start = task * c->per_task, end = min_int64(start + c->per_task, c->r->length);              \
        scan_chunks_##dtype(c->r, start, end, before[start / ROW_CHUNK], NULL);                              \
        return LW_OK;                                                                                        \
    }                                                                                                        \
                                                                                                             \
    static int scan_by_tasks_##dtype(const row *r) {                                                         \
        enum { TILES = ROW_CHUNK / SCAN_TILE };                                                              \
        int64_t tiles = divide_up(r->length, SCAN_TILE), chunks = divide_up(r->length, ROW_CHUNK);           \
        size_t size = (size_t)chunks * sizeof(wide) + (size_t)tiles * sizeof(item);                          \
        wide *before = allocate_scratch(r->division->context, size), sum = zero;                             \
        PATH_IF(!before, "cumulative_sum: no memory for tasks");                                             \
        if (!before) return 0;                                                                               \
        item *sums = (item *)(before + chunks);                                                              \
        scan_call call = {r, sums, before, items_per_task(r->division->context, r->length, ROW_CHUNK)};      \
        int64_t tasks = divide_up(r->length, call.per_task);                                                 \
        row_run_tasks(r, tasks, scan_sum_task_##dtype, &call);                                               \
        for (int64_t i = 0; i < tiles && r->division->status == LW_OK; i++) {                                \
            if (i % TILES == 0) before[i / TILES] = sum;                                                     \
            sum = sum + (wide)sums[i];                                                                       \
        }                                                                                                    \
        row_run_tasks(r, tasks, scan_task_##dtype, &call);                                                   \
        release_scratch(r->division->context, before);                                                       \
        return 1;                                                                                            \
    }                                                                                                        \
                                                                                                             \
    static void cumulative_sum_row_##dtype(const row *r) {                                                   \
        if (HAS_THREADS && r->division && r->division->context->threads >= SCAN_MIN_THREADS &&               \
            scan_by_tasks_##dtype(r))                                                                        \
            return;                                                                                          \
        scan_chunks_##dtype(r, 0, r->length, zero, NULL);                                                    \
    }                                                                                                        \
    ROWS(cumulative_sum, dtype, 1)

CUMULATIVE_SUM(float32, vf32, float, double, -0.0f)
CUMULATIVE_SUM(int32, vi32, int32_t, uint32_t, 0)
