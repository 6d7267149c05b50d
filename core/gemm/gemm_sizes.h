/* Chooses the sizes of a packed product's parts and tasks from the product, the number of threads and the caches. */
#pragma once

#include "gemm/gemm.h"

/* Returns whether a panel of B is too long to stay in L1 beside one of A. */
INLINE int gemm_has_long_panels(int64_t depth) { return GEMM_HAS_LONG_PANELS && depth * GEMM_NR > GEMM_L1_PANEL; }

typedef struct gemm_sizes {
    int64_t rows, columns, depth; /* the largest size of a gemm_part */
    int64_t block, task_columns;  /* rows and columns that a task computes */
    int64_t packing;              /* elements that a task packs */
    int is_narrow;                /* too few columns for packing A to pay: only A's last, partial panel is packed */
} gemm_sizes;

/* Returns whether a panel of A stays in L1 if it is read in place. It does not if it has more rows than a set of L1 has
 * lines, and these are so close to a multiple of 4 KB apart that most of them share the same sets. */
static int gemm_fits_in_place(const gemm *g, int64_t depth) {
    int64_t offset = g->a_row & 4095;
    return GEMM_MR <= GEMM_L1_WAYS || 4 * min_int64(offset, 4096 - offset) >= depth * (int64_t)sizeof(element);
}

/* Returns the most columns for which packing A does not pay. */
static int64_t gemm_narrow(const gemm *g, int64_t depth, int64_t threads, int is_cached) {
    if (!gemm_fits_in_place(g, depth)) {
        PATH_IF(GEMM_MR > GEMM_L1_WAYS, "gemm: a panel of A in place does not stay in L1");
        return GEMM_NR;
    }
    return threads <= 1 && gemm_has_long_panels(depth) ? GEMM_NARROW_LONG_N
           : is_cached                                 ? GEMM_NARROW_ONE_TASK_N
                                                       : GEMM_NARROW_N;
}

/* Returns how many rows of A or columns of B, each of `depth` elements, fit in one of `shares` equal shares of a cache:
 * a multiple of `unit`, from `unit` to `most`. Returns `most` if the size of the cache is unknown. */
INLINE int64_t gemm_held(size_t cache_bytes, int shares, int64_t depth, int64_t unit, int64_t most) {
    if (!GEMM_KNOWS_CACHES || cache_bytes == 0) {
        return most;
    }
    int64_t elements = (int64_t)(cache_bytes / sizeof(element)) / shares;
    int64_t held = elements / (depth > 0 ? depth : 1) / unit * unit;
    PATH_IF(GEMM_KNOWS_CACHES && held < unit, "gemm: a cache that does not hold one panel");
    PATH_IF(GEMM_KNOWS_CACHES && held >= unit && held < most, "gemm: a small cache");
    PATH_IF(GEMM_KNOWS_CACHES && held >= most, "gemm: a large cache");
    return held < unit ? unit : min_int64(held, most);
}

/* Chooses sizes so that all tasks have about the same work, and threads finish together. On one thread, a task computes
 * all rows if their part of A stays in L2, or if a panel of A stays in L1 while it is multiplied by all panels of B.
 * What L2 holds takes up to half of it; packed panels of A take up to a quarter of L3, and those of B half. */
static gemm_sizes gemm_choose_sizes(const lw_context *context, const gemm *g, int64_t threads) {
    int64_t depth = divide_up(g->k, divide_up(g->k, GEMM_KC) + (g->k == 0)); /* blocks of about equal depth */
    size_t l2 = context->l2_bytes, l3 = context->cache_bytes;
    gemm_sizes sizes = {.depth = depth, .task_columns = GEMM_TASK_NC, .packing = 1 << 30};
    sizes.rows = sizes.block = gemm_held(l3, 4, depth, GEMM_MC, GEMM_PACKED_ROWS);
    sizes.columns = gemm_held(l3, 2, depth, GEMM_NR, GEMM_NC);
    int is_cached = threads <= 1 && g->m * depth <= gemm_held(l2, 2, 1, 1, GEMM_ONE_TASK_A);
    int is_long = gemm_has_long_panels(depth);
    int64_t narrow = gemm_narrow(g, depth, threads, is_cached);
    sizes.is_narrow = g->n <= narrow && g->a_column == sizeof(element) && g->a_row != sizeof(element);
    PATH_IF(sizes.is_narrow, "gemm: narrow");
    if (is_long) {
        sizes.task_columns = gemm_held(l2, 2, depth, GEMM_NR, GEMM_LONG_NC);
    }
    if (is_cached || (threads <= 1 && is_long) || gemm_work(g) < GEMM_SMALL_WORK) {
        return sizes;
    }
    int64_t most_rows = gemm_held(l2, 2, depth, GEMM_MR, GEMM_MC);
    int64_t rows = divide_up(g->m, divide_up(g->m, most_rows)); /* blocks of about equal height */
    int64_t panel = rows * GEMM_NR * depth, columns = divide_up(GEMM_TASK_WORK, panel) * GEMM_NR;
    if (is_long) { /* as many columns as leave each thread several tasks, because a task reads all its part of A */
        int64_t panels = divide_up(g->m, rows) * divide_up(min_int64(g->n, sizes.columns), GEMM_NR);
        int64_t most = panels / (threads * GEMM_LONG_TASKS) * GEMM_NR;
        columns = most > columns ? most : columns;
    }
    sizes.block = round_up(rows, GEMM_MR);
    sizes.task_columns = min_int64(columns, sizes.task_columns);
    sizes.packing = 1 << 15;
    return sizes;
}

/* How a product that is not skinny is computed. */
typedef struct gemm_plan {
    gemm_sizes sizes;
    int shares_b;           /* several blocks of rows use the same panels of B */
    int64_t a_size, b_size; /* elements of scratch for panels of A and of B; b_size is 0 if tasks keep only one of B */
} gemm_plan;

static gemm_plan gemm_make_plan(const lw_context *context, const gemm *g, int64_t threads) {
    gemm_plan plan = {.sizes = gemm_choose_sizes(context, g, threads)};
    gemm_sizes *sizes = &plan.sizes;
    plan.shares_b = g->m > sizes->block;
    if (!plan.shares_b) {
        sizes->columns = g->n;
    }
    int64_t a_rows = sizes->is_narrow ? GEMM_MR : round_up(min_int64(g->m, sizes->rows), GEMM_MR);
    int keeps_b = threads <= 1 && gemm_has_long_panels(sizes->depth);
    int64_t b_columns = plan.shares_b ? sizes->columns : keeps_b ? sizes->task_columns : 0;
    plan.a_size = round_up(a_rows * sizes->depth, 16); /* multiples of 64 bytes */
    plan.b_size = round_up(round_up(min_int64(g->n, b_columns), GEMM_NR) * sizes->depth, 16);
    return plan;
}
