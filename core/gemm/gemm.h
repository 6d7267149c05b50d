/* The description of one matrix product, its epilogue (bias and activation), and what all GEMM paths share. Strides are
 * in bytes and may have any size and sign. The stride along an extent of 1 is arbitrary. */
#pragma once

#include "gemm/gemm_tiles.h"
#include "layout/layout_iterator.h"
#include "layout/strided.h"

enum {
    GEMM_SMALL_WORK = 1 << 20, /* a product of at least this many multiply-adds is divided into tasks */
    /* Replaces GEMM_SMALL_WORK in batches of at least GEMM_MANY_PRODUCTS products. For them, tasks that compute whole
     * products are faster, because no task waits for another to pack. */
    GEMM_LARGE_WORK = 1 << 26,
    GEMM_MANY_PRODUCTS = 16
};

/* Applies an activation in place; count is a multiple of LANES. */
typedef void gemm_activation(element *values, int64_t count);

typedef struct gemm gemm;

/* Packs a panel of B: to[p * GEMM_NR + j] = B[first_row + p, first_column + j] for p < depth. Columns beyond n are
 * zeros. */
typedef void gemm_b_packer(const gemm *g, int64_t first_row, int64_t depth, int64_t first_column, element *to);

/* A row of a panel in place: the byte offset of its first element, and a mask; elements that it hides are zeros. */
typedef struct gemm_row {
    int64_t from;
    const element_bits *inside;
} gemm_row;

/* The rows of a panel that begins at row first_row of B. Consecutive panels of a task share one gemm_rows; depth is 0
 * before the first. */
typedef struct gemm_rows {
    int64_t first_row, depth;
    gemm_row row[GEMM_KC];
    element_bits inside[GEMM_MASKS][GEMM_NR];
} gemm_rows;

/* Finds a panel of B in memory: returns its address, to which the offsets in `rows` are relative, or NULL if the panel
 * has to be packed. Updates *rows. */
typedef const char *gemm_b_finder(const gemm *g, int64_t first_row, int64_t depth, int64_t first_column,
                                  gemm_rows *rows);

/* C = activate(A B + bias). A is m x k, B is k x n. */
struct gemm {
    int64_t m, n, k;
    const char *a, *b, *bias; /* bias may be NULL */
    char *c;
    int64_t a_row, a_column, b_row, b_column, bias_row, bias_column, c_row, c_column;
    gemm_activation *activate; /* may be NULL */
    gemm_b_packer *pack_b;     /* NULL if b points to a matrix in memory */
    gemm_b_finder *find_b;     /* goes with pack_b */
    const void *source;        /* what pack_b and find_b read */
};

INLINE double gemm_work(const gemm *g) { return (double)g->m * (double)g->n * (double)g->k; }

/* Adds the bias to `columns` values of row i of C, from column j on. `values` is padded to `width` elements, which are
 * whole vectors. */
static void gemm_add_bias(const gemm *g, int64_t i, int64_t j, int64_t columns, element *values, int64_t width) {
    const char *bias = g->bias + i * g->bias_row + j * g->bias_column;
    if (g->bias_column == 0) {
        PATH("gemm: bias of a row");
        vec constant = v_set(element_load(bias));
        for (int64_t c = 0; c < width; c += LANES) {
            v_store(values + c, v_load(values + c) + constant);
        }
        return;
    }
    PATH("gemm: bias of columns");
    for (int64_t c = 0; c < columns; c += LANES) {
        int n = (int)min_int64(columns - c, LANES);
        element packed[LANES];
        copy_strided_inline((char *)packed, sizeof(element), bias + c * g->bias_column, g->bias_column, n,
                            ELEMENT_SIZE);
        v_store(values + c, v_load(values + c) + v_load_partial(packed, n, v_set(0)));
    }
}

/* Epilogue: adds the bias to a tile and applies the activation. The tile has `columns` columns, padded to `width`. */
static void gemm_apply_epilogue(const gemm *g, int64_t i, int64_t j, int64_t rows, int64_t columns, char *tile,
                                int64_t tile_row, int64_t width) {
    for (int64_t r = 0; r < rows; r++) {
        element *values = (element *)(tile + r * tile_row);
        if (g->bias) {
            gemm_add_bias(g, i + r, j, columns, values, width);
        }
        if (g->activate) {
            g->activate(values, width);
        }
    }
}

/* Stores `rows` x `columns` elements of a tile to C, or adds them to C if `add`. Applies the epilogue if this is the
 * `last` block of k. */
static void gemm_store_tile(const gemm *g, int64_t i, int64_t j, int64_t rows, int64_t columns, element *tile,
                            int64_t width, int add, int last) {
    char *c = g->c + i * g->c_row + j * g->c_column;
    if (add) {
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t s = 0; s < columns; s++) {
                tile[r * width + s] += element_load(c + r * g->c_row + s * g->c_column);
            }
        }
    }
    if (last && (g->bias || g->activate)) {
        gemm_apply_epilogue(g, i, j, rows, columns, (char *)tile, width * (int64_t)sizeof(element), width);
    }
    for (int64_t r = 0; r < rows; r++) {
        copy_strided(c + r * g->c_row, g->c_column, (const char *)(tile + r * width), sizeof(element), columns,
                     sizeof(element));
    }
}

/* Returns the transposed product, C^T = B^T A^T. */
static gemm gemm_transposed(const gemm *g) {
    return (gemm){
        .m = g->n,
        .n = g->m,
        .k = g->k,
        .a = g->b,
        .b = g->a,
        .bias = g->bias,
        .c = g->c,
        .a_row = g->b_column,
        .a_column = g->b_row,
        .b_row = g->a_column,
        .b_column = g->a_row,
        .bias_row = g->bias_column,
        .bias_column = g->bias_row,
        .c_row = g->c_column,
        .c_column = g->c_row,
        .activate = g->activate,
    };
}
