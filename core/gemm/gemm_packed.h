/* Matrix multiplication: five loops around a micro-kernel, after Van Zee and van de Geijn, "BLIS: A Framework for
 * Rapidly Instantiating BLAS Functionality", 2015.
 *
 * The three outer loops divide C's columns into blocks of up to GEMM_NC, k into blocks of up to GEMM_KC, and C's rows
 * into blocks of up to GEMM_PACKED_ROWS. They pack the corresponding parts of A and B into panels. Tasks then compute
 * blocks of C with two more loops, over panels of B and of A. If each task computes all rows of its columns, no two
 * tasks share a panel of B, so each task packs its own panels just before it uses them. Packing accepts any strides and
 * pads the last panel with zeros. If B has few columns, A is read in place instead of packed; if A has few rows, B is
 * read in place (gemm_skinny.h). Small products are not packed at all (gemm_unpacked.h). On several threads, products
 * that are not very large are divided into a grid of products (gemm_grid.h). The order in which the terms of an element
 * of C are summed depends only on k and on which of these paths is taken; it is the same for packed products and the
 * grid. */
#pragma once

#include "gemm/gemm_kernel.h"
#include "gemm/gemm_pack.h"
#include "gemm/gemm_sizes.h"
#include "gemm/gemm_unpacked.h"

/* The part of a product that is packed at a time: rows i .. i + rows - 1 and columns j .. j + columns - 1 of C, and k
 * from p to p + depth - 1. */
typedef struct gemm_part {
    const gemm *g;
    int64_t i, rows, j, columns, p, depth;
    int64_t unpacked_rows;        /* rows of A, from row i on, read in place; later rows are packed */
    element *a, *b;               /* packed panels; b is NULL if each task packs its own panels of B */
    element *own;                 /* where they are packed, or NULL if a task keeps only one at a time */
    int64_t b_panels, pack_tasks; /* panels of B to pack; number of tasks that pack A and B */
    int64_t block, task_columns;  /* rows and columns of C that a task computes */
} gemm_part;

/* Packs one task's share of an operand. `along` is the stride along k, `across` that along the other dimension, which
 * has `extent` elements. If the other dimension is contiguous, the share is a range of k, for all panels, because each
 * index of k may lie on its own page of memory, and packing a single panel would read only one or two cache lines of
 * each page. Otherwise, the share is a range of whole panels. */
INLINE void gemm_pack_part(element *to, int width, gemm_panel_packer *pack, const char *from, int64_t across,
                           int64_t along, int64_t extent, int64_t depth, int64_t task, int64_t tasks) {
    int by_depth = across == sizeof(element);
    int64_t panels = divide_up(extent, width), shared = by_depth ? depth : panels;
    int64_t first = task * shared / tasks, end = (task + 1) * shared / tasks;
    int64_t first_panel = by_depth ? 0 : first, end_panel = by_depth ? panels : end;
    PATH_IF(by_depth, "gemm: packs ranges of k");
    PATH_IF(by_depth && end - first > GEMM_PACK_KC, "gemm: packs several ranges of k");
    PATH_IF(!by_depth && panels, "gemm: packs whole panels");
    int64_t p = by_depth ? first : 0, end_p = by_depth ? end : depth, run = by_depth ? GEMM_PACK_KC : depth;
    for (; p < end_p; p += run) {
        for (int64_t panel = first_panel; panel < end_panel; panel++) {
            pack(to + (panel * depth + p) * width, from + panel * width * across + p * along, across, along,
                 min_int64(extent - panel * width, width), min_int64(end_p - p, run));
        }
    }
}

static lw_status gemm_pack_task(lw_context *context, int64_t task, const void *argument) {
    const gemm_part *part = argument;
    const gemm *g = part->g;
    int64_t tasks = part->pack_tasks;
    const char *a = g->a + (part->i + part->unpacked_rows) * g->a_row + part->p * g->a_column;
    gemm_pack_part(part->a, GEMM_MR, gemm_pack_a_panel, a, g->a_row, g->a_column, part->rows - part->unpacked_rows,
                   part->depth, task, tasks);
    if (!g->pack_b && part->b_panels) {
        const char *b = g->b + part->p * g->b_row + part->j * g->b_column;
        gemm_pack_part(part->b, GEMM_NR, gemm_pack_b_panel, b, g->b_column, g->b_row, part->columns, part->depth, task,
                       tasks);
    }
    for (int64_t panel = task * part->b_panels / tasks; g->pack_b && panel < (task + 1) * part->b_panels / tasks;
         panel++) {
        g->pack_b(g, part->p, part->depth, part->j + panel * GEMM_NR, part->b + panel * GEMM_NR * part->depth);
    }
    return LW_OK;
}

/* Returns whether a task packs and keeps all its panels of B. */
INLINE int gemm_keeps_panels(const gemm_part *part) { return GEMM_HAS_LONG_PANELS && part->own; }

/* Packs a panel of B that only the calling task uses. */
static void gemm_pack_own_panel(const gemm_part *part, int64_t j, element *to) {
    const gemm *g = part->g;
    if (g->pack_b) {
        PATH("gemm: a task packs its own panels with pack_b");
        g->pack_b(g, part->p, part->depth, part->j + j, to);
    } else {
        PATH("gemm: a task packs its own panels");
        gemm_pack_b_panel(to, g->b + part->p * g->b_row + (part->j + j) * g->b_column, g->b_column, g->b_row,
                          min_int64(part->columns - j, GEMM_NR), part->depth);
    }
}

/* Computes the sums of a tile from rows of A, in place or packed, and a panel of B: the packed panel b or, unless it is
 * NULL, `panel`. */
static void gemm_sum_tile(const gemm_part *part, int64_t i, int64_t rows, int64_t columns, const element *b,
                          const gemm_panel *panel, char *tile, int64_t tile_row, gemm_store_mode mode) {
    const gemm *g = part->g;
    const int64_t b_step = GEMM_NR * sizeof *b; /* known at compile time */
    int in_place = i < part->unpacked_rows;
    const char *a = in_place ? g->a + (part->i + i) * g->a_row + part->p * g->a_column
                             : (const char *)(part->a + (i - part->unpacked_rows) * part->depth);
    if (GEMM_COPIES_B && panel) {
        PATH_EITHER(in_place, "gemm: copies a panel of B, with A in place", "gemm: copies a panel of B, with A packed");
        gemm_tile_copying_b(part->depth, a, in_place ? g->a_row : 0, panel, tile, tile_row, mode);
    } else if (in_place) {
        gemm_tile_in_place(columns, part->depth, a, g->a_row, (const char *)b, b_step, tile, tile_row, mode);
    } else {
        gemm_edge_tile(rows, columns, part->depth, a, (const char *)b, b_step, tile, tile_row, mode);
    }
}

/* Computes one tile of C; (i, j) is relative to the part. b and `panel` are as for gemm_sum_tile(). */
static void gemm_multiply_tile(const gemm_part *part, int64_t i, int64_t j, const element *b, const gemm_panel *panel) {
    const gemm *g = part->g;
    int64_t rows = min_int64(part->rows - i, GEMM_MR), columns = min_int64(part->columns - j, GEMM_NR);
    int64_t row = part->i + i, column = part->j + j;
    int add = part->p > 0, last = part->p + part->depth == g->k;
    if (rows % GEMM_EDGE_MR == 0 && columns == GEMM_NR && g->c_column == sizeof(element)) {
        PATH_EITHER(add, "gemm: adds to a tile of C", "gemm: sets a tile of C");
        PATH_IF(last && (g->bias || g->activate), "gemm: epilogue on a tile of C");
        char *c = g->c + row * g->c_row + column * g->c_column;
        gemm_sum_tile(part, i, rows, columns, b, panel, c, g->c_row, add ? GEMM_ADD_PREFETCH : GEMM_SET);
        if (last && (g->bias || g->activate)) {
            gemm_apply_epilogue(g, row, column, rows, columns, c, g->c_row, columns);
        }
        return;
    }
    PATH_EITHER(add, "gemm: copies a tile that it adds to C", "gemm: copies a tile to C");
    element tile[GEMM_MR * GEMM_NR];
    int64_t width = columns <= LANES ? LANES : GEMM_NR;
    gemm_sum_tile(part, i, rows, columns, b, panel, (char *)tile, width * (int64_t)sizeof *tile, GEMM_SET);
    gemm_store_tile(g, row, column, rows, columns, tile, width, add, last);
}

/* Finds a panel of B in place that a tile can copy to `own`. Returns whether there is one. */
static int gemm_find_panel(const gemm_part *part, int64_t j, gemm_rows *rows, element *own, gemm_panel *panel) {
    const gemm *g = part->g;
    *panel = (gemm_panel){.copy = own};
    if (g->pack_b) {
        panel->b = g->find_b(g, part->p, part->depth, part->j + j, rows);
        panel->rows = rows->row;
        return panel->b != NULL;
    }
    panel->b = g->b + part->p * g->b_row + (part->j + j) * g->b_column;
    panel->step = g->b_row;
    return g->b_column == sizeof(element);
}

/* Prepares a panel of B that only the calling task uses, for its first tile: finds it in place, for the tile to copy to
 * `own`, and returns 1, or packs it to `own`. Copying costs the tile nothing: its multiply-adds leave the units for
 * stores idle. */
static int gemm_prepare_panel(const gemm_part *part, int64_t i, int64_t j, gemm_rows *rows, element *own,
                              gemm_panel *panel) {
    int is_whole = part->rows - i >= GEMM_MR && part->columns - j >= GEMM_NR;
    if (GEMM_COPIES_B && is_whole && gemm_find_panel(part, j, rows, own, panel)) {
        return 1;
    }
    gemm_pack_own_panel(part, j, own);
    return 0;
}

/* Returns how many of its columns a task computes together, row by row. With all of them, a panel of A stays in L1, and
 * the panels of B come from L2. C is then written along its rows; if k is short, writing C takes most of the time. With
 * one column of tiles after the other, a panel of B stays in L1, and the panels of A come from L2. */
static int64_t gemm_columns_together(const gemm_part *part, int64_t columns) {
    int is_cached = !GEMM_HAS_LARGE_TASKS || part->depth * columns <= GEMM_CACHED_ELEMENTS;
    int by_rows = part->b ? is_cached || gemm_has_long_panels(part->depth) : gemm_keeps_panels(part);
    PATH_IF(GEMM_HAS_LONG_PANELS && part->own, "gemm: a task keeps several panels of its own");
    PATH_IF(by_rows, "gemm: row by row");
    PATH_IF(!by_rows, "gemm: column by column");
    return by_rows ? columns : GEMM_NR;
}

/* Computes one block of C. */
static lw_status gemm_block_task(lw_context *context, int64_t task, const void *argument) {
    const gemm_part *part = argument;
    _Alignas(64) element panel[GEMM_NR * GEMM_KC]; /* reused for every panel, so it stays in L1 or L2 */
    element *own = gemm_keeps_panels(part) ? part->own : panel;
    gemm_rows rows;
    gemm_panel in_place;
    rows.depth = 0;
    int64_t across = divide_up(part->columns, part->task_columns);
    int64_t first_row = task / across * part->block, first_column = task % across * part->task_columns;
    int64_t end_row = min_int64(first_row + part->block, part->rows);
    int64_t end_column = min_int64(first_column + part->task_columns, part->columns), end;
    int64_t together = gemm_columns_together(part, end_column - first_column);
    for (int64_t first = first_column; first < end_column; first = end) {
        end = min_int64(first + together, end_column);
        element *b = part->b ? part->b + first * part->depth : own;
        for (int64_t i = first_row; i < end_row; i += GEMM_MR) {
            for (int64_t j = first; j < end; j += GEMM_NR) {
                element *packed = b + (j - first) * part->depth;
                int copies = !part->b && i == first_row && gemm_prepare_panel(part, i, j, &rows, packed, &in_place);
                gemm_multiply_tile(part, i, j, packed, copies ? &in_place : NULL);
            }
        }
    }
    return LW_OK;
}

static lw_status gemm_packed(lw_context *context, const gemm *g, const gemm_sizes *sizes, element *a, element *b,
                             element *own) {
    gemm_part part = {.g = g, .a = a, .b = b, .own = own, .block = sizes->block, .task_columns = sizes->task_columns};
    for (part.j = 0; part.j < g->n; part.j += sizes->columns) {
        part.columns = min_int64(g->n - part.j, sizes->columns);
        part.p = 0;
        PATH_IF(part.j > 0 && sizes->columns == GEMM_NR, "gemm: another block of one panel of B");
        PATH_IF(part.j > 0 && sizes->columns > GEMM_NR, "gemm: another block of several panels of B");
        do { /* at least once, so that C is written even if k = 0 */
            part.depth = min_int64(g->k - part.p, sizes->depth);
            part.b_panels = b ? divide_up(part.columns, GEMM_NR) : 0;
            PATH_IF(part.p == 0 && part.depth == g->k, "gemm: one block of k");
            PATH_IF(part.p == 0 && part.depth < g->k, "gemm: first block of k");
            PATH_IF(part.p > 0 && part.p + part.depth < g->k, "gemm: middle block of k");
            PATH_IF(part.p > 0 && part.p + part.depth == g->k, "gemm: last block of k");
            for (part.i = 0; part.i < g->m; part.i += sizes->rows) {
                part.rows = min_int64(g->m - part.i, sizes->rows);
                PATH_IF(part.i > 0, "gemm: another block of packed rows");
                part.unpacked_rows = sizes->is_narrow ? part.rows / GEMM_MR * GEMM_MR : 0;
                int64_t packed = round_up(part.rows - part.unpacked_rows, GEMM_MR) + part.b_panels * GEMM_NR;
                part.pack_tasks = 1 + packed * part.depth / sizes->packing;
                int64_t blocks = divide_up(part.rows, part.block) * divide_up(part.columns, part.task_columns);
                lw_status status = run_tasks(context, part.pack_tasks, gemm_pack_task, &part);
                if (status == LW_OK) {
                    status = run_tasks(context, blocks, gemm_block_task, &part);
                }
                if (status != LW_OK) {
                    return status;
                }
                part.b_panels = 0; /* the next block of rows uses the same packed B */
            }
            part.p += part.depth;
        } while (part.p < g->k);
    }
    return LW_OK;
}

/* Multiplies on at most `threads` threads. Without scratch memory, packs short panels on the stack. */
static lw_status gemm_on_threads(lw_context *context, const gemm *g, int64_t threads) {
    gemm_plan plan = gemm_make_plan(context, g, threads);
    element *scratch = allocate_scratch(context, (size_t)(plan.a_size + plan.b_size + 16) * sizeof *scratch);
    if (scratch) {
        PATH_EITHER(plan.shares_b, "gemm: packed, tasks share B", "gemm: packed, each task packs B");
        element *panels = scratch + plan.a_size;
        lw_status status = gemm_packed(context, g, &plan.sizes, scratch, plan.shares_b ? panels : NULL,
                                       GEMM_HAS_LONG_PANELS && !plan.shares_b && plan.b_size > 0 ? panels : NULL);
        release_scratch(context, scratch);
        return status;
    }
    PATH("gemm: packed on the stack");
    element a[GEMM_MR * GEMM_STACK_KC], b[GEMM_NR * GEMM_STACK_KC];
    gemm_sizes small = {GEMM_MR, GEMM_NR, GEMM_STACK_KC, GEMM_MR, GEMM_NR, 1 << 30, 0};
    return gemm_packed(context, g, &small, a, b, NULL);
}

#include "gemm/gemm_grid.h"
#include "gemm/gemm_skinny.h"
#include "gemm/gemm_ways.h"
