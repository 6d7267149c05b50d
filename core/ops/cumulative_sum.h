/* Prefix sums: each element becomes the sum of all elements up to and including it.
 *
 * 1. In a tile of 64 elements: in each group of 2, then 4, 8 ... 64 elements, add the last element of the lower half
 *    to each element of the upper half. The first steps are within registers, the later ones between them. The number
 *    of lanes decides only where a step happens, not which elements are added, so the result is bit-identical on every
 *    instruction set.
 * 2. Add the sum of all earlier tiles, which for floats has more bits than elements: the error does not grow with the
 *    length.
 * Source: Sklansky, "Conditional-sum addition logic", 1960.
 *
 * Tasks that divide a row scan it twice: first for the sums of the tiles, then, once these have been added up, for the
 * results. So two threads would gain nothing. */
#pragma once

#include "reduce/rows.h"

enum { SCAN_TILE = 64, SCAN_REGISTERS = SCAN_TILE / LANES, SCAN_MIN_THREADS = 4 };

#define SCAN_ZERO (-(element)0) /* the identity of addition, -0 for floats */

/* The sum of earlier tiles, to which rounding errors do not add up. */
#if defined LW_ELEMENT_FLOAT64
typedef struct scan_wide {
    double sum, lost; /* the sum, and all that its additions lost */
} scan_wide;
/* Knuth's TwoSum. What an infinite sum lost is NaN. */
INLINE scan_wide scan_add(scan_wide before, element x) {
    double sum = before.sum + x, virtual = sum - before.sum;
    return (scan_wide){sum, before.lost + ((before.sum - (sum - virtual)) + (x - virtual))};
}
INLINE scan_wide scan_zero(void) { return (scan_wide){SCAN_ZERO, 0}; }
INLINE element scan_rounded(scan_wide x) { return x.lost != 0 && x.lost == x.lost ? x.sum + x.lost : x.sum; }
#elif IS_FLOATING
typedef double scan_wide;
#else
typedef uint64_t scan_wide;
#endif

#if !defined LW_ELEMENT_FLOAT64
INLINE scan_wide scan_zero(void) { return (scan_wide)SCAN_ZERO; }
INLINE scan_wide scan_add(scan_wide before, element x) { return before + (scan_wide)x; }
INLINE element scan_rounded(scan_wide x) { return (element)x; }
#endif

/* What the tasks that divide a row share. */
typedef struct scan_call {
    const row *r;
    void *sums;       /* of each tile */
    void *before;     /* sum of all tiles before each chunk */
    int64_t per_task; /* elements, in whole chunks */
} scan_call;

INLINE void scan_tile(const element *from, vec *x) {
    for (int r = 0; r < SCAN_REGISTERS; r++) {
        x[r] = v_load(from + r * LANES);
#pragma GCC unroll 4
        for (int n = 1; n < LANES; n *= 2) {
            vmask upper = b_ne(b_and(b_iota(), b_set(n)), b_set(0));
            x[r] = v_select(upper, x[r] + v_spread(x[r], n), x[r]);
        }
    }
    for (int n = 1; n < SCAN_REGISTERS; n *= 2) {
        for (int r = 0; r < SCAN_REGISTERS; r++) {
            if (r & n) {
                x[r] = x[r] + v_set(v_last(x[(r & ~(2 * n - 1)) + n - 1]));
            }
        }
    }
}

/* Scans elements start to end - 1, given the sum of the elements before. If `sums` is NULL, writes the results;
 * otherwise writes only the sum of each tile to `sums`. */
static void scan_chunks(const row *r, int64_t start, int64_t end, scan_wide before, element *sums) {
    element packed[ROW_CHUNK], last[SCAN_TILE];
    for (; start < end; start += ROW_CHUNK) {
        int64_t count = min_int64(end - start, ROW_CHUNK);
        const element *x = row_read(r->in[0], start, count, packed);
        element *result = row_result(r, start, packed);
        for (int64_t i = 0; i < count; i += SCAN_TILE) {
            int64_t n = min_int64(count - i, SCAN_TILE);
            for (int64_t k = 0; k < SCAN_TILE && n < SCAN_TILE; k++) {
                last[k] = k < n ? x[i + k] : SCAN_ZERO;
            }
            vec scanned[SCAN_REGISTERS];
            scan_tile(n == SCAN_TILE ? x + i : last, scanned);
            element sum = v_last(scanned[SCAN_REGISTERS - 1]);
            if (sums) {
                sums[(start + i) / SCAN_TILE] = sum;
                continue;
            }
            element *to = n == SCAN_TILE ? result + i : last;
            for (int v = 0; v < SCAN_REGISTERS; v++) {
                v_store(to + v * LANES, scanned[v] + v_set(scan_rounded(before)));
            }
            if (n < SCAN_TILE) {
                copy_strided((char *)(result + i), ELEMENT_SIZE, (const char *)last, ELEMENT_SIZE, n, ELEMENT_SIZE);
            }
            before = scan_add(before, sum);
        }
        if (!sums) {
            row_write(r, start, count, result);
        }
    }
}

static lw_status scan_sum_task(lw_context *context, int64_t task, const void *argument) {
    const scan_call *c = argument;
    int64_t start = task * c->per_task, end = min_int64(start + c->per_task, c->r->length);
    scan_chunks(c->r, start, end, scan_zero(), c->sums);
    return LW_OK;
}
static lw_status scan_task(lw_context *context, int64_t task, const void *argument) {
    const scan_call *c = argument;
    const scan_wide *before = c->before;
    int64_t start = task * c->per_task, end = min_int64(start + c->per_task, c->r->length);
    scan_chunks(c->r, start, end, before[start / ROW_CHUNK], NULL);
    return LW_OK;
}

/* Scans a row in tasks. Returns whether there was memory for the sums of its tiles. */
static int scan_by_tasks(const row *r) {
    enum { TILES = ROW_CHUNK / SCAN_TILE };
    int64_t tiles = divide_up(r->length, SCAN_TILE), chunks = divide_up(r->length, ROW_CHUNK);
    size_t size = (size_t)chunks * sizeof(scan_wide) + (size_t)tiles * sizeof(element);
    scan_wide *before = allocate_scratch(r->division->context, size), sum = scan_zero();
    PATH_IF(!before, "cumulative_sum: no memory for tasks");
    if (!before) {
        return 0;
    }
    element *sums = (element *)(before + chunks);
    scan_call call = {r, sums, before, items_per_task(r->division->context, r->length, ROW_CHUNK)};
    int64_t tasks = divide_up(r->length, call.per_task);
    row_run_tasks(r, tasks, scan_sum_task, &call);
    for (int64_t i = 0; i < tiles && r->division->status == LW_OK; i++) {
        if (i % TILES == 0) {
            before[i / TILES] = sum;
        }
        sum = scan_add(sum, sums[i]);
    }
    row_run_tasks(r, tasks, scan_task, &call);
    release_scratch(r->division->context, before);
    return 1;
}

static void cumulative_sum_row(const row *r) {
    if (HAS_THREADS && r->division && r->division->context->threads >= SCAN_MIN_THREADS && scan_by_tasks(r)) {
        return;
    }
    scan_chunks(r, 0, r->length, scan_zero(), NULL);
}

ROWS(cumulative_sum, 1)
