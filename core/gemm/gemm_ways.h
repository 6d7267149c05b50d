/* Chooses which way to compute a product, by the table in gemm_undivided(). Included by gemm_packed.h. */
#pragma once

#include "layout/copy.h"

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

/* Copies operands of a product with few rows whose elements are contiguous along neither axis, so that gemm_unpacked()
 * can read them, and a B of many short columns as rows. Returns the memory of the copies, or NULL. */
static void *gemm_gather(lw_context *context, gemm *g) {
    enum { SIZE = sizeof(element) };
    int is_short = g->k < UNPACKED_MIN_COPY, has_rows = g->n > 1 && g->b_column == SIZE;
    int copies_b = !has_rows && (is_short || g->b_row != SIZE);
    int by_rows = copies_b && g->n > 1 && (is_short || g->b_column * g->b_column < g->b_row * g->b_row);
    int copies_a = !has_rows && !by_rows && g->a_column != SIZE;
    int64_t size = (copies_a ? g->m * g->k : 0) + (copies_b ? g->k * g->n : 0);
    if (size == 0 || size > UNPACKED_MAX_COPY || g->m > UNPACKED_MR || g->pack_b || (is_short && g->n < UNPACKED_NC)) {
        return NULL;
    }
    element *memory = allocate_scratch(context, (size_t)size * SIZE), *to = memory;
    if (to && copies_a) {
        copied_rows rows = {{1, g->m}, {0, g->k * SIZE}, {0, g->a_row}};
        copy_rows((char *)to, SIZE, g->a, g->a_column, &rows, g->k, SIZE);
        g->a = (const char *)to;
        g->a_row = g->k * SIZE;
        g->a_column = SIZE;
        to += g->m * g->k;
    }
    if (to && copies_b) {
        PATH_EITHER(by_rows, "gemm: copies rows", "gemm: copies columns");
        int64_t outer = by_rows ? g->k : g->n, inner = by_rows ? g->n : g->k;
        copied_rows rows = {{1, outer}, {0, inner * SIZE}, {0, by_rows ? g->b_row : g->b_column}};
        copy_rows((char *)to, SIZE, g->b, by_rows ? g->b_column : g->b_row, &rows, inner, SIZE);
        g->b = (const char *)to;
        g->b_row = by_rows ? inner * SIZE : SIZE;
        g->b_column = by_rows ? SIZE : inner * SIZE;
    }
    return memory;
}

/* Computes a product in the first way that applies. It may compute C^T = B^T A^T instead of C. */
static lw_status gemm_undivided(lw_context *context, const gemm *whole) {
    int has_few = gemm_has_few_columns(whole), has_contiguous = gemm_has_contiguous_columns(whole);
    gemm transposed = has_few || has_contiguous ? gemm_transposed(whole) : *whole;
    const gemm *small = has_few ? &transposed : whole, *g = has_contiguous ? &transposed : whole;
    gemm gathered = *small;
    void *memory = whole->m && whole->n ? gemm_gather(context, &gathered) : NULL;
    if (memory) {
        lw_status status = gemm_unpacked(context, &gathered);
        release_scratch(context, memory);
        return status;
    }
    PATH_IF(has_contiguous && !gemm_is_unpacked(small, has_few), "gemm: transposed");
    /* clang-format off */
    return whole->m == 0 || whole->n == 0          ? LW_OK
         : gemm_is_unpacked(small, has_few)        ? gemm_unpacked(context, small) /* reads A and B in place */
         : gemm_is_skinny(g)                       ? gemm_skinny(context, g)       /* packs A, reads B in place */
         : HAS_THREADS && gemm_is_grid(context, g) ? gemm_by_grid(context, g)      /* each task packs for itself */
                                                   : gemm_on_threads(context, g, context->threads); /* shares panels */
    /* clang-format on */
}

#include "gemm/gemm_parts.h"

static lw_status gemm_run(lw_context *context, const gemm *g) {
    gemm_parts parts = gemm_parts_of(g);
    if (HAS_THREADS && parts.count > 1) {
        parts.sums = allocate_scratch(context, (size_t)(parts.count * g->m * parts.width) * sizeof *parts.sums);
    }
    if (!HAS_THREADS || !parts.sums) {
        return gemm_undivided(context, g);
    }
    PATH_IF(HAS_THREADS, "gemm: in parts along k");
    lw_status status = gemm_by_parts(context, &parts);
    release_scratch(context, parts.sums);
    return status;
}
