/* Unpacked GEMM: for products that are small or have few rows or columns, where packing costs more than it saves. Reads
 * A and B in place.
 *
 * k is divided into blocks. Each block is summed separately, then added to the result: shorter sums have smaller
 * rounding errors. */
#pragma once

#include "gemm/gemm.h"

enum {
    UNPACKED_MR = 4,
    UNPACKED_NR_VECTORS = 2 * LANES <= 16 ? 2 : 4,
    UNPACKED_MAX_WORK = 32 * 32 * 32, /* multiply-adds; up to this, nothing is packed if the strides allow it */
    UNPACKED_KC = 256,
    UNPACKED_NC = 64,
    UNPACKED_DOTS = IS_DOWNLOADED ? 4 : 8, /* dot products that are computed together; a divisor of UNPACKED_NC */
    UNPACKED_PARTS = 4,                    /* parts of a dot product that is computed alone */
    UNPACKED_STREAM_NC = 1024,  /* columns of B that unpacked_by_streaming reads at a time: 4 KB of each row */
    UNPACKED_STREAM_ROWS = 8,   /* rows of B whose products are summed in registers */
    UNPACKED_MIN_COPY = 16,     /* steps along k from which copying operands that are not contiguous pays, */
    UNPACKED_MAX_COPY = 1 << 22 /* and elements up to which they are copied */
};

/* Computes `rows` rows of C, `vectors` vectors wide, with n columns in the last vector. Requires contiguous rows of
 * B. */
INLINE void unpacked_tile(const gemm *g, int64_t i, int64_t j, int rows, int vectors, int n) {
    element tile[UNPACKED_MR * UNPACKED_NR_VECTORS * LANES];
    int width = vectors * LANES;
    int64_t p = 0;
    PATH_IF(g->k == 0, "unpacked by rows: k = 0");
    PATH_IF(g->k > UNPACKED_KC, "unpacked by rows: two blocks of k");
    PATH_IF(g->k > 2 * UNPACKED_KC, "unpacked by rows: more than two blocks of k");
    do {
        vec sum[UNPACKED_MR][UNPACKED_NR_VECTORS];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < vectors; v++) {
                sum[r][v] = v_set(0);
            }
        }
        const char *a = g->a + i * g->a_row;
        for (int64_t end = min_int64(p + UNPACKED_KC, g->k); p < end; p++) {
            const element *b = (const element *)(g->b + p * g->b_row) + j;
            vec values[UNPACKED_NR_VECTORS];
            for (int v = 0; v < vectors; v++) {
                values[v] =
                    v + 1 < vectors || n == LANES ? v_load(b + v * LANES) : v_load_partial(b + v * LANES, n, v_set(0));
            }
            for (int r = 0; r < rows; r++) {
                vec factor = v_set(element_load(a + r * g->a_row + p * g->a_column));
                for (int v = 0; v < vectors; v++) {
                    sum[r][v] = v_fma(factor, values[v], sum[r][v]);
                }
            }
        }
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < vectors; v++) {
                element *to = tile + r * width + v * LANES;
                v_store(to, p <= UNPACKED_KC ? sum[r][v] : v_load(to) + sum[r][v]);
            }
        }
    } while (p < g->k);
    gemm_store_tile(g, i, j, rows, width - LANES + n, tile, width, 0, 1);
}

INLINE void unpacked_row_group(const gemm *g, int64_t i, int rows) {
    int64_t j = 0;
    for (; j + UNPACKED_NR_VECTORS * LANES <= g->n; j += UNPACKED_NR_VECTORS * LANES) {
        PATH("unpacked by rows: all vectors");
        unpacked_tile(g, i, j, rows, UNPACKED_NR_VECTORS, LANES);
    }
    for (; j + LANES <= g->n; j += LANES) {
        PATH("unpacked by rows: one vector");
        unpacked_tile(g, i, j, rows, 1, LANES);
    }
    if (j < g->n) {
        PATH_IF(LANES > 1, "unpacked by rows: part of a vector");
        unpacked_tile(g, i, j, rows, 1, (int)(g->n - j));
    }
}

static void unpacked_by_rows(const gemm *g) {
    int64_t i = 0;
    for (; i + UNPACKED_MR <= g->m; i += UNPACKED_MR) {
        PATH("unpacked by rows: several rows");
        unpacked_row_group(g, i, UNPACKED_MR);
    }
    for (; i < g->m; i++) {
        PATH("unpacked by rows: one row");
        unpacked_row_group(g, i, 1);
    }
}

/* Adds to `sum` the product of `rows` adjacent elements of a row of A with as many rows of B, for `columns` columns.
 * Requires contiguous rows of B. */
INLINE void unpacked_stream_rows(const char *a, int64_t a_column, const char *b, int64_t b_row, int rows,
                                 int64_t columns, element *sum) {
    vec factor[UNPACKED_STREAM_ROWS];
    for (int r = 0; r < rows; r++) {
        factor[r] = v_set(element_load(a + r * a_column));
    }
    for (int64_t c = 0; c < columns; c += LANES) {
        int n = (int)min_int64(columns - c, LANES);
        vec block_sum = v_set(0);
        for (int r = 0; r < rows; r++) {
            const element *values = (const element *)(b + r * b_row) + c;
            vec x = n == LANES ? v_load(values) : v_load_partial(values, n, v_set(0));
            block_sum = v_fma(factor[r], x, block_sum);
        }
        v_store(sum + c, v_load(sum + c) + block_sum);
    }
}

/* For products with few rows of C and a large B: reads B once from DRAM, in long runs along its rows. The sums stay in
 * L1. */
static void unpacked_by_streaming(const gemm *g) {
    element sum[UNPACKED_MR * UNPACKED_STREAM_NC];
    for (int64_t j = 0; j < g->n; j += UNPACKED_STREAM_NC) {
        int64_t columns = min_int64(g->n - j, UNPACKED_STREAM_NC);
        PATH_IF(j > 0, "unpacked by streaming: another block of columns");
        PATH_IF(LANES > 1 && columns % LANES, "unpacked by streaming: part of a vector");
        for (int64_t c = 0; c < UNPACKED_MR * UNPACKED_STREAM_NC; c += LANES) {
            v_store(sum + c, v_set(0));
        }
        for (int64_t p = 0; p < g->k;) {
            const char *b = g->b + p * g->b_row + j * g->b_column;
            int whole = p + UNPACKED_STREAM_ROWS <= g->k;
            for (int64_t i = 0; i < g->m; i++) {
                const char *a = g->a + i * g->a_row + p * g->a_column;
                element *to = sum + i * UNPACKED_STREAM_NC;
                if (whole) {
                    PATH("unpacked by streaming: several rows of B");
                    unpacked_stream_rows(a, g->a_column, b, g->b_row, UNPACKED_STREAM_ROWS, columns, to);
                } else {
                    PATH("unpacked by streaming: one row of B");
                    unpacked_stream_rows(a, g->a_column, b, g->b_row, 1, columns, to);
                }
            }
            p += whole ? UNPACKED_STREAM_ROWS : 1;
        }
        gemm_store_tile(g, 0, j, g->m, columns, sum, UNPACKED_STREAM_NC, 0, 1);
    }
}

/* Adds up the lanes of each of `count` vectors, a power of two above 1. Each step adds pairs of lanes, and packs two
 * vectors into one. A last single vector is packed with a stale one, whose lanes are not stored. */
INLINE void unpacked_add_lanes(vec *x, const int count, element *results) {
    int vectors = count;
#pragma GCC unroll 4
    for (int lanes = LANES; lanes > 1; lanes /= 2) {
        vectors = divide_up(vectors, 2);
#pragma GCC unroll 8
        for (int i = 0; i < vectors; i++) {
            x[i] = v_even(x[2 * i], x[2 * i + 1]) + v_odd(x[2 * i], x[2 * i + 1]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < vectors; i++) {
        v_store_partial(results + i * LANES, x[i], count < LANES ? count : LANES);
    }
}

/* Computes the dot products of a row of A with UNPACKED_DOTS columns of B from column j. `last` is the last column of
 * B; it is read in place of columns beyond it. With `parts`, computes the dot product with column j alone, as sums of
 * every UNPACKED_PARTS-th vector. Requires A and B to be contiguous along k. */
INLINE void unpacked_dots(const gemm *g, int64_t i, int64_t j, int64_t last, const int parts, element *results) {
    const int count = parts ? UNPACKED_PARTS : UNPACKED_DOTS;
    const element *a = (const element *)(g->a + i * g->a_row), *b[UNPACKED_DOTS];
    vec total[UNPACKED_DOTS];
    PATH_IF(parts, "unpacked by dots: one column, in parts");
    PATH_IF(j + UNPACKED_DOTS - 1 > last, "unpacked by dots: some columns beyond the last");
    PATH_IF(LANES > 1 && g->k % LANES, "unpacked by dots: part of a vector");
    PATH_IF(g->k > UNPACKED_KC * LANES, "unpacked by dots: two blocks of k");
    PATH_IF(g->k > 2 * UNPACKED_KC * LANES, "unpacked by dots: more than two blocks of k");
#pragma GCC unroll 8
    for (int c = 0; c < count; c++) {
        b[c] = (const element *)(g->b + min_int64(j + (parts ? 0 : c), last) * g->b_column);
        total[c] = v_set(0);
    }
    for (int64_t p = 0; p < g->k;) {
        vec sum[UNPACKED_DOTS];
#pragma GCC unroll 8
        for (int c = 0; c < count; c++) {
            sum[c] = v_set(0);
        }
        int64_t end = min_int64(p + UNPACKED_KC * LANES, g->k);
        for (; p + UNPACKED_PARTS * LANES <= end && parts; p += UNPACKED_PARTS * LANES) {
#pragma GCC unroll 8
            for (int c = 0; c < count; c++) {
                sum[c] = v_fma(v_load(a + p + c * LANES), v_load(b[0] + p + c * LANES), sum[c]);
            }
        }
        for (; p + LANES <= end; p += LANES) {
            vec factor = v_load(a + p);
#pragma GCC unroll 8
            for (int c = 0; c < (parts ? 1 : count); c++) {
                sum[c] = v_fma(factor, v_load(b[c] + p), sum[c]);
            }
        }
        if (p < end) {
            int n = (int)(end - p);
            vec factor = v_load_partial(a + p, n, v_set(0));
#pragma GCC unroll 8
            for (int c = 0; c < (parts ? 1 : count); c++) {
                sum[c] = v_fma(factor, v_load_partial(b[c] + p, n, v_set(0)), sum[c]);
            }
            p = end;
        }
#pragma GCC unroll 8
        for (int c = 0; c < count; c++) {
            total[c] = total[c] + sum[c];
        }
    }
    if (parts) {
        results[0] = v_reduce_add((total[0] + total[2]) + (total[1] + total[3]));
    } else {
        unpacked_add_lanes(total, UNPACKED_DOTS, results);
    }
}

static void unpacked_by_dots(const gemm *g) {
    element tile[UNPACKED_MR * UNPACKED_NC];
    for (int64_t i = 0; i < g->m; i += UNPACKED_MR) {
        for (int64_t j = 0; j < g->n; j += UNPACKED_NC) {
            int64_t rows = min_int64(g->m - i, UNPACKED_MR), columns = min_int64(g->n - j, UNPACKED_NC);
            PATH_IF(i > 0, "unpacked by dots: another block of rows");
            PATH_IF(j > 0, "unpacked by dots: another block of columns");
            PATH_IF(columns < UNPACKED_NC, "unpacked by dots: part of a block of columns");
            for (int64_t c = 0; c < columns; c += UNPACKED_DOTS) {
                for (int64_t r = 0; r < rows; r++) {
                    element *to = tile + r * UNPACKED_NC + c;
                    if (j + c + 1 == g->n) {
                        unpacked_dots(g, i + r, j + c, j + c, 1, to);
                    } else {
                        unpacked_dots(g, i + r, j + c, g->n - 1, 0, to);
                    }
                }
            }
            for (int64_t r = 0; r < rows; r++) { /* clear padding: gemm_store_tile applies the activation to it, too */
                for (int64_t c = columns; c < UNPACKED_NC; c++) {
                    tile[r * UNPACKED_NC + c] = 0;
                }
            }
            gemm_store_tile(g, i, j, rows, columns, tile, UNPACKED_NC, 0, 1);
        }
    }
}

static void unpacked_multiply(const gemm *g) {
    int is_dot = g->n == 1 && g->b_row == sizeof(element) && g->a_column == sizeof(element) && g->k >= LANES;
    if (g->b_column != sizeof(element) || is_dot) {
        PATH("unpacked by dots");
        unpacked_by_dots(g);
    } else if (g->m <= UNPACKED_MR && g->n > UNPACKED_NC && gemm_work(g) > UNPACKED_MAX_WORK) {
        PATH("unpacked by streaming");
        unpacked_by_streaming(g);
    } else {
        PATH("unpacked by rows");
        unpacked_by_rows(g);
    }
}

static int64_t unpacked_task_columns(const gemm *g) {
    if (gemm_work(g) < GEMM_SMALL_WORK) {
        return g->n;
    }
    int64_t min_columns = g->b_column == sizeof(element) ? UNPACKED_STREAM_NC : UNPACKED_NC;
    return min_columns * divide_up(GEMM_SMALL_WORK, min_columns * g->m * g->k);
}

static lw_status unpacked_task(lw_context *context, int64_t task, const void *argument) {
    const gemm *g = argument;
    gemm part = *g;
    int64_t columns = unpacked_task_columns(g), j = task * columns;
    part.n = min_int64(g->n - j, columns);
    part.b += j * g->b_column;
    part.c += j * g->c_column;
    if (g->bias) {
        PATH_IF(j > 0, "unpacked: a later task adds the bias");
        part.bias += j * g->bias_column;
    }
    unpacked_multiply(&part);
    return LW_OK;
}

static lw_status gemm_unpacked(lw_context *context, const gemm *g) {
    return run_tasks(context, divide_up(g->n, unpacked_task_columns(g)), unpacked_task, g);
}
