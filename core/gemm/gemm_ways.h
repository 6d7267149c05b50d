/* Chooses which way to compute a product, by the table in gemm_run(). Included by gemm_packed.h. */
#pragma once

/* Returns whether C^T = B^T A^T has so few rows that it needs no packing. */
static int gemm_has_few_columns(const gemm *g) { return g->n < g->m && g->n <= UNPACKED_MR && !g->pack_b; }

/* Returns whether C^T has contiguous rows, and C does not. */
static int gemm_has_contiguous_columns(const gemm *g) {
    return g->c_column != sizeof(element) && g->c_row == sizeof(element) && !g->pack_b;
}

/* Returns whether the product is small or has few rows, so that packing costs more than it saves. `is_transposed`: it
 * is the transpose of a product with few columns. */
static int gemm_is_unpacked(const gemm *g, int is_transposed) {
    if (g->pack_b) {
        return 0;
    }
    PATH_IF(is_transposed, "unpacked: transposed");
    int is_small = gemm_work(g) <= UNPACKED_MAX_WORK;
    if (g->b_column == sizeof(element)) {
        return is_small || is_transposed || g->m < UNPACKED_MR;
    }
    int has_few_rows = g->m <= UNPACKED_MR || (g->m <= 2 * UNPACKED_MR && g->k >= UNPACKED_KC);
    return g->b_row == sizeof(element) && g->a_column == sizeof(element) && (is_small || has_few_rows);
}

/* Returns whether C has so few rows that B is better read in place. */
static int gemm_is_skinny(const gemm *g) {
    return g->m <= SKINNY_MAX_ROWS && g->k > 0 && g->k <= SKINNY_KC * SKINNY_MAX_BLOCKS &&
           g->b_column == sizeof(element) && !g->pack_b;
}

/* Returns whether C should be divided into a grid: it has a tile for each thread, and gemm_packed() would be slower.
 * Its barriers cost more with more threads, so the most work per thread grows with their number. */
static int gemm_is_grid(const lw_context *context, const gemm *g) {
    double work = gemm_work(g), threads = (double)context->threads;
    double most = threads * GRID_MAX_WORK * (threads > GRID_MANY_THREADS ? threads : GRID_MANY_THREADS);
    int pays = threads > 1 && work >= GEMM_SMALL_WORK && work <= most && !g->pack_b;
    return pays && (double)g->m * (double)g->n >= (double)(GEMM_MR * GEMM_NR) * threads;
}

/* Computes a product in the first way that applies. It may compute C^T = B^T A^T instead of C. */
static lw_status gemm_run(lw_context *context, const gemm *whole) {
    int has_few = gemm_has_few_columns(whole), has_contiguous = gemm_has_contiguous_columns(whole);
    gemm transposed = has_few || has_contiguous ? gemm_transposed(whole) : *whole;
    const gemm *small = has_few ? &transposed : whole, *g = has_contiguous ? &transposed : whole;
    PATH_IF(has_contiguous && !gemm_is_unpacked(small, has_few), "gemm: transposed");
    /* clang-format off */
    return whole->m == 0 || whole->n == 0          ? LW_OK
         : gemm_is_unpacked(small, has_few)        ? gemm_unpacked(context, small) /* reads A and B in place */
         : gemm_is_skinny(g)                       ? gemm_skinny(context, g)       /* packs A, reads B in place */
         : HAS_THREADS && gemm_is_grid(context, g) ? gemm_by_grid(context, g)      /* each task packs for itself */
                                                   : gemm_on_threads(context, g, context->threads); /* shares panels */
    /* clang-format on */
}
