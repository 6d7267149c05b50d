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

/* Define the sum of earlier tiles, to which rounding errors do not add up: scan_wide is that of one row, scan_wides
 * those of LANES rows. */
#if defined LW_ELEMENT_FLOAT64
/* `sum`, and `lost`, all that its additions lost, by Knuth's TwoSum. What an infinite sum lost is NaN. */
#define SCAN_SUM(name, number, zero, rounded)                                               \
    typedef struct name {                                                                   \
        number sum, lost;                                                                   \
    } name;                                                                                 \
    INLINE name name##_zero(void) { return (name){zero(SCAN_ZERO), zero(0)}; }              \
    INLINE name name##_add(name before, number x) {                                         \
        number sum = before.sum + x, virtual = sum - before.sum;                            \
        return (name){sum, before.lost + ((before.sum - (sum - virtual)) + (x - virtual))}; \
    }                                                                                       \
    INLINE number name##_rounded(name x) { return rounded; }

SCAN_SUM(scan_wide, element, (element), x.lost != 0 && x.lost == x.lost ? x.sum + x.lost : x.sum)
SCAN_SUM(scan_wides, vec, v_set, v_select(m_or(v_eq(x.lost, v_set(0)), v_isnan(x.lost)), x.sum, x.sum + x.lost))
#else
#define SCAN_SUM(name, number, wide, zero, widened, rounded)                      \
    typedef wide name;                                                            \
    INLINE name name##_zero(void) { return zero(SCAN_ZERO); }                     \
    INLINE name name##_add(name before, number x) { return before + widened(x); } \
    INLINE number name##_rounded(name x) { return rounded(x); }

#if IS_FLOATING
SCAN_SUM(scan_wide, element, double, (double), (double), (element))
SCAN_SUM(scan_wides, vec, vdouble, d_set, v_to_double, v_from_double)
#else
SCAN_SUM(scan_wide, element, uint64_t, (uint64_t), (uint64_t), (element))
SCAN_SUM(scan_wides, vec, vec, v_set, , )
#endif
#endif

/* What the tasks that divide a row share. */
typedef struct scan_call {
    const row *r;
    void *sums;       /* of each tile */
    void *before;     /* sum of all tiles before each chunk */
    int64_t per_task; /* elements, in whole chunks */
} scan_call;

/* Scans a register. */
INLINE vec scan_register(vec x) {
#pragma GCC unroll 4
    for (int n = 1; n < LANES; n *= 2) {
        vmask upper = b_ne(b_and(b_iota(), b_set(n)), b_set(0));
        x = v_select(upper, x + v_spread(x, n), x);
    }
    return x;
}

/* Scans n <= SCAN_TILE elements at x, adds `before`, and writes the results to `to` unless it is NULL. Returns the sum
 * of the n elements. Integers have the same sums in any order, so registers follow each other. */
#if IS_FLOATING
INLINE element scan_tile(const element *x, int64_t n, element before, element *to) {
    element last[SCAN_TILE];
    vec scanned[SCAN_REGISTERS];
    for (int64_t k = 0; k < SCAN_TILE && n < SCAN_TILE; k++) {
        last[k] = k < n ? x[k] : SCAN_ZERO;
    }
    for (int r = 0; r < SCAN_REGISTERS; r++) {
        scanned[r] = scan_register(v_load((n == SCAN_TILE ? x : last) + r * LANES));
    }
    for (int m = 1; m < SCAN_REGISTERS; m *= 2) {
        for (int r = 0; r < SCAN_REGISTERS; r++) {
            if (r & m) {
                scanned[r] = scanned[r] + v_set(v_last(scanned[(r & ~(2 * m - 1)) + m - 1]));
            }
        }
    }
    for (int r = 0; r < SCAN_REGISTERS && to; r++) {
        v_store((n == SCAN_TILE ? to : last) + r * LANES, scanned[r] + v_set(before));
    }
    if (to && n < SCAN_TILE) {
        copy_strided((char *)to, ELEMENT_SIZE, (const char *)last, ELEMENT_SIZE, n, ELEMENT_SIZE);
    }
    return v_last(scanned[SCAN_REGISTERS - 1]);
}
#else
INLINE element scan_tile(const element *x, int64_t n, element before, element *to) {
    vec total = v_set(before);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec scanned = scan_register(v_load(x + i));
        if (to) {
            v_store(to + i, scanned + total);
        }
        total = total + v_set(v_last(scanned));
    }
    element sum = v_first(total);
    for (; i < n; i++) {
        sum += x[i];
        if (to) {
            to[i] = sum;
        }
    }
    return sum - before;
}
#endif

/* Scans elements start to end - 1, given the sum of the elements before. If `sums` is NULL, writes the results;
 * otherwise writes only the sum of each tile to `sums`. */
static void scan_chunks(const row *r, int64_t start, int64_t end, scan_wide before, element *sums) {
    element packed[ROW_CHUNK];
    for (; start < end; start += ROW_CHUNK) {
        int64_t count = min_int64(end - start, ROW_CHUNK);
        const element *x = row_read(r->in[0], start, count, packed);
        element *result = sums ? NULL : row_result(r, start, packed);
        for (int64_t i = 0; i < count; i += SCAN_TILE) {
            int64_t n = min_int64(count - i, SCAN_TILE);
            if (sums) {
                sums[(start + i) / SCAN_TILE] = scan_tile(x + i, n, 0, NULL);
            } else {
                before = scan_wide_add(before, scan_tile(x + i, n, scan_wide_rounded(before), result + i));
            }
        }
        if (!sums) {
            row_write(r, start, count, result);
        }
    }
}

static lw_status scan_sum_task(lw_context *context, int64_t task, const void *argument) {
    const scan_call *c = argument;
    int64_t start = task * c->per_task, end = min_int64(start + c->per_task, c->r->length);
    scan_chunks(c->r, start, end, scan_wide_zero(), c->sums);
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
    scan_wide *before = allocate_scratch(r->division->context, size), sum = scan_wide_zero();
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
        sum = scan_wide_add(sum, sums[i]);
    }
    row_run_tasks(r, tasks, scan_task, &call);
    release_scratch(r->division->context, before);
    return 1;
}

enum { SCAN_GROUP = LANES > 1 ? 8 : 4, SCAN_LEVELS = 6 };

/* Scans rows side by side: in the same tiles, and within them in groups, to which the sums before the group in the tile
 * are added, those of few elements first. total[b] is the sum of the last 2^b elements before the group that are a
 * group of step 1, as long as the number of elements before the group in the tile has bit b. */
static void scan_beside(const row *r) {
    for (int64_t first = 0; first < r->width; first += LANES) {
        scan_wides before = scan_wides_zero();
        for (int64_t start = 0; start < r->length; start += SCAN_TILE) {
            const char *from = r->in[0].data + start * r->in[0].stride + first * ELEMENT_SIZE;
            char *to = r->out_data + start * r->out.stride + first * ELEMENT_SIZE;
            int64_t count = min_int64(r->length - start, SCAN_TILE);
            vec total[SCAN_LEVELS + 1], rounded = scan_wides_rounded(before);
            for (int64_t i = 0; i < count; i += SCAN_GROUP, from += SCAN_GROUP * r->in[0].stride) {
                vec x[SCAN_GROUP];
#pragma GCC unroll 8
                for (int k = 0; k < SCAN_GROUP; k++) {
                    x[k] = i + k < count ? v_load((const element *)(from + k * r->in[0].stride)) : v_set(SCAN_ZERO);
                }
#pragma GCC unroll 3
                for (int n = 1; n < SCAN_GROUP; n *= 2) {
#pragma GCC unroll 8
                    for (int k = 0; k < SCAN_GROUP; k++) {
                        if (k & n) {
                            x[k] = x[k] + x[(k & ~(2 * n - 1)) + n - 1];
                        }
                    }
                }
                int is_total = 1; /* whether x[SCAN_GROUP - 1] is the sum of the last `n` elements */
                for (int n = SCAN_GROUP, b = 0; n < SCAN_TILE; n *= 2, b++) {
                    if (i & n) {
#pragma GCC unroll 8
                        for (int k = 0; k < SCAN_GROUP; k++) {
                            x[k] = x[k] + total[b];
                        }
                    } else if (is_total) {
                        total[b] = x[SCAN_GROUP - 1];
                        is_total = 0;
                    }
                }
#pragma GCC unroll 8
                for (int k = 0; k < SCAN_GROUP; k++) {
                    if (i + k < count) {
                        v_store((element *)(to + (i + k) * r->out.stride), x[k] + rounded);
                    }
                }
                if (i + SCAN_GROUP == SCAN_TILE) {
                    before = scan_wides_add(before, x[SCAN_GROUP - 1]);
                }
            }
        }
    }
}

static void cumulative_sum_row(const row *r) {
    if (HAS_THREADS && r->division && r->division->context->threads >= SCAN_MIN_THREADS && scan_by_tasks(r)) {
        return;
    }
    scan_chunks(r, 0, r->length, scan_wide_zero(), NULL);
}

static void cumulative_sum_beside(const row *r) { scan_beside(r); }

ROWS_BY(cumulative_sum, 1)
