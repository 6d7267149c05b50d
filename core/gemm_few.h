/* Products of few rows: each element of B is used a few times only, so it is read where it lies, in runs of its rows.
 *
 * C's columns are cut into strips, whose sums stay in the nearest caches while a few steps of the depth at a time are
 * added to all of them. */
#pragma once

#include "gemm_kernel.h"
#include "gemm_pack.h"

enum {
    FEW_ROWS = 48, /* a multiple of every GEMM_ROWS */
    FEW_DEPTH = 32,
    FEW_SUMS = 256, /* of a depth each are added up: what rounding adds to the error grows with their number */
    FEW_COLUMNS = 512
};

typedef struct few {
    const gemm *g;
    const float *a;        /* packed */
    int64_t strip, strips; /* columns; of a task */
} few;

static void few_strip(const gemm *g, const float *a, int64_t first, int64_t columns) {
    _Alignas(64) float sums[FEW_ROWS * FEW_COLUMNS], last[FEW_DEPTH * GEMM_COLUMNS];
    int64_t width = divide_up(columns, VF32_LANES) * VF32_LANES, row_bytes = width * (int64_t)sizeof *sums;
    for (int64_t p = 0; p < g->k; p += FEW_DEPTH) {
        int64_t depth = min_int64(g->k - p, FEW_DEPTH);
        for (int64_t j = 0; j < columns; j += GEMM_COLUMNS) {
            int64_t count = min_int64(columns - j, GEMM_COLUMNS), b_row = g->b_row;
            const char *b = g->b + p * b_row + (first + j) * g->b_column;
            if (count < GEMM_COLUMNS) {
                gemm_pack_columns(last, b, g->b_column, b_row, count, depth);
                b = (const char *)last;
                b_row = GEMM_COLUMNS * sizeof *last;
            }
            for (int64_t i = 0; i < g->m; i += GEMM_ROWS) {
                gemm_edge_tile(min_int64(g->m - i, GEMM_ROWS), count, depth,
                               (const char *)(a + i * g->k + p * GEMM_ROWS), b, b_row, (char *)(sums + i * width + j),
                               row_bytes, p ? GEMM_ADD : GEMM_SET);
            }
        }
    }
    gemm_put_tile(g, 0, first, g->m, columns, sums, width, 0, 1);
}

static lw_status few_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const few *all = argument;
    int64_t columns = all->strip * all->strips, end = min_int64((task + 1) * columns, all->g->n);
    for (int64_t j = task * columns; j < end; j += all->strip) {
        few_strip(all->g, all->a, j, min_int64(end - j, all->strip));
    }
    return LW_OK;
}

static int gemm_is_few(const gemm *g) {
    return g->m <= FEW_ROWS && g->k > 0 && g->k <= FEW_DEPTH * FEW_SUMS && g->b_column == sizeof(float) && !g->pack_b;
}

static int64_t few_scratch(const gemm *g) { return divide_up(g->m, GEMM_ROWS) * GEMM_ROWS * g->k; }

/* With room for few_scratch() floats. */
static lw_status gemm_few(lw_context *context, const gemm *g, float *scratch) {
    for (int64_t i = 0; i < g->m; i += GEMM_ROWS) {
        gemm_pack_rows(scratch + i * g->k, g->a + i * g->a_row, g->a_row, g->a_column, min_int64(g->m - i, GEMM_ROWS),
                       g->k);
    }
    int64_t strip = divide_up(g->n, divide_up(g->n, FEW_COLUMNS)); /* all alike */
    few all = {.g = g, .a = scratch, .strip = divide_up(strip, GEMM_COLUMNS) * GEMM_COLUMNS};
    all.strips = divide_up(GEMM_SMALL, all.strip * g->m * g->k);
    return run_tasks(context, divide_up(g->n, all.strip * all.strips), few_task, &all);
}
