/* Skinny GEMM: products with few rows. Each element of B is used only a few times, so B is read in place, along
 * its rows, instead of packed.
 *
 * C is cut into strips of columns. The sums of a strip stay in the L1 and L2 caches while the products with successive
 * blocks of SKINNY_KC rows of B are added to them.
 * Included by gemm_packed.h. */
#pragma once

enum {
    SKINNY_MAX_ROWS = 48,    /* maximum rows of C; a multiple of GEMM_MR on every instruction set */
    SKINNY_KC = 32,          /* rows of B per block */
    SKINNY_MAX_BLOCKS = 256, /* maximum blocks of k, to bound the rounding error: blocks are added in sequence */
    SKINNY_NC = 512          /* maximum columns of a strip */
};

typedef struct skinny {
    const gemm *g;
    const element *a;      /* packed panels of A */
    int64_t strip, strips; /* columns per strip; strips per task */
} skinny;

static void skinny_strip(const gemm *g, const element *a, int64_t first, int64_t columns) {
    _Alignas(64) element sums[SKINNY_MAX_ROWS * SKINNY_NC], last[SKINNY_KC * GEMM_NR];
    int64_t width = round_up(columns, LANES), row_bytes = width * (int64_t)sizeof *sums;
    for (int64_t p = 0; p < g->k; p += SKINNY_KC) {
        int64_t depth = min_int64(g->k - p, SKINNY_KC);
        PATH_IF(p == 0, "skinny: first block of k");
        PATH_IF(p > 0, "skinny: another block of k");
        PATH_IF(depth < SKINNY_KC, "skinny: part of a block of k");
        for (int64_t j = 0; j < columns; j += GEMM_NR) {
            int64_t count = min_int64(columns - j, GEMM_NR), b_row = g->b_row;
            const char *b = g->b + p * b_row + (first + j) * g->b_column;
            if (count < GEMM_NR) {
                PATH("skinny: part of a panel of B");
                gemm_pack_b_panel(last, b, g->b_column, b_row, count, depth);
                b = (const char *)last;
                b_row = GEMM_NR * sizeof *last;
            }
            for (int64_t i = 0; i < g->m; i += GEMM_MR) {
                gemm_edge_tile(min_int64(g->m - i, GEMM_MR), count, depth, (const char *)(a + i * g->k + p * GEMM_MR),
                               b, b_row, (char *)(sums + i * width + j), row_bytes, p ? GEMM_ADD : GEMM_SET);
            }
        }
    }
    gemm_store_tile(g, 0, first, g->m, columns, sums, width, 0, 1);
}

static lw_status skinny_task(lw_context *context, int64_t task, const void *argument) {
    const skinny *all = argument;
    int64_t columns = all->strip * all->strips, end = min_int64((task + 1) * columns, all->g->n);
    for (int64_t j = task * columns; j < end; j += all->strip) {
        PATH_IF(j > task * columns, "skinny: several strips in a task");
        skinny_strip(all->g, all->a, j, min_int64(end - j, all->strip));
    }
    return LW_OK;
}

/* Without scratch memory, packs B, too. */
static lw_status gemm_skinny(lw_context *context, const gemm *g) {
    int64_t elements = round_up(g->m, GEMM_MR) * g->k;
    element *a = allocate_scratch(context, (size_t)(elements + 16) * sizeof *a);
    if (!a) {
        return gemm_on_threads(context, g, context->threads);
    }
    PATH("gemm: skinny");
    for (int64_t i = 0; i < g->m; i += GEMM_MR) {
        gemm_pack_a_panel(a + i * g->k, g->a + i * g->a_row, g->a_row, g->a_column, min_int64(g->m - i, GEMM_MR), g->k);
    }
    int64_t strip = divide_up(g->n, divide_up(g->n, SKINNY_NC)); /* strips of about equal width */
    skinny all = {.g = g, .a = a, .strip = round_up(strip, GEMM_NR)};
    all.strips = divide_up(GEMM_SMALL_WORK, all.strip * g->m * g->k);
    lw_status status = run_tasks(context, divide_up(g->n, all.strip * all.strips), skinny_task, &all);
    release_scratch(context, a);
    return status;
}
