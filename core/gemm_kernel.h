/* The GEMM micro-kernel: multiplies a panel of A by a panel of B into a tile of C. */
#pragma once

#include "gemm.h"

/* Aligns the entry of the loop along k to a 64-byte fetch line, which gains up to 4 %. */
#if __has_attribute(code_align) && !defined __wasm__
#define GEMM_ALIGN_LOOP __attribute__((code_align(64)))
#else
#define GEMM_ALIGN_LOOP
#endif

typedef enum gemm_store_mode {
    GEMM_SET,         /* the sums replace the tile */
    GEMM_ADD,         /* the sums are added to the tile */
    GEMM_ADD_PREFETCH /* like GEMM_ADD; also prefetches the tile below, which may have been evicted since the previous
                       * block of k */
} gemm_store_mode;

/* Prefetches one of GEMM_PREFETCH_PARTS parts of the tile below. Prefetching all its cache lines at once would delay
 * loads of the panels. */
INLINE void gemm_prefetch_tile(const char *tile, int64_t tile_row, int part) {
    enum { LINE = 64 / sizeof(float) };
    const char *below = tile + GEMM_MR * tile_row;
    for (int r = part * GEMM_MR / GEMM_PREFETCH_PARTS; r < (part + 1) * GEMM_MR / GEMM_PREFETCH_PARTS; r++) {
        for (int c = 0; c < GEMM_NR; c += LINE) {
            __builtin_prefetch((const float *)(below + r * tile_row) + c);
        }
    }
}

/* Computes a tile of `height` rows of `vectors` vectors each; both are compile-time constants. a_row is the stride
 * between A's rows; a_step and b_step are the strides along k, all in bytes. If `rows` is not NULL, it replaces b_step;
 * if `copy` is not NULL, the panel of B is copied to it; whether they are NULL is known at compile time. The loops over
 * the tile must be unrolled completely: only then does the compiler keep `sum` in registers. */
INLINE void gemm_tile_of(int height, int vectors, int64_t depth, const char *a, int64_t a_row, int64_t a_step,
                         const char *b, int64_t b_step, const gemm_row *rows, char *tile, int64_t tile_row,
                         gemm_store_mode mode, float *copy) {
    vf32 sum[GEMM_MR * GEMM_NR_VECTORS];
    int registers = height * vectors, prefetch = mode == GEMM_ADD_PREFETCH;
#pragma GCC unroll 32
    for (int s = 0; s < registers; s++) {
        sum[s] = vf32_set(0);
    }
    int64_t p = 0;
    for (int part = 0; p < depth; part++) {
        if (prefetch) {
            gemm_prefetch_tile(tile, tile_row, part);
        }
        int64_t end = prefetch ? depth * (part + 1) / GEMM_PREFETCH_PARTS : depth;
        GEMM_ALIGN_LOOP
        for (; p < end; p++, a += a_step, b += rows ? 0 : b_step) {
            vf32 values[GEMM_NR_VECTORS];
#pragma GCC unroll 32
            for (int v = 0; v < vectors; v++) {
                if (rows) {
                    vf32 x = vf32_load((const float *)(b + rows[p].from) + v * VF32_LANES);
                    values[v] = vf32_from_bits(vf32_bits(x) & vi32_load(rows[p].inside + v * VF32_LANES));
                } else {
                    values[v] = vf32_load((const float *)b + v * VF32_LANES);
                }
                if (GEMM_PREFETCH_STEPS > 0 && !rows) {
                    __builtin_prefetch((const float *)(b + GEMM_PREFETCH_STEPS * b_step) + v * VF32_LANES);
                }
                if (copy) {
                    vf32_store(copy + p * GEMM_NR + v * VF32_LANES, values[v]);
                }
            }
#pragma GCC unroll 32
            for (int s = 0; s < registers; s++) {
                sum[s] = vf32_fma(vf32_set(gemm_float(a + s / vectors * a_row)), values[s % vectors], sum[s]);
            }
        }
    }
#pragma GCC unroll 32
    for (int s = 0; s < registers; s++) {
        float *to = (float *)(tile + s / vectors * tile_row) + s % vectors * VF32_LANES;
        vf32_store(to, mode == GEMM_SET ? sum[s] : vf32_load(to) + sum[s]);
    }
}

/* Computes a tile from a packed panel of A. */
INLINE void gemm_panel_tile(int rows, int vectors, int64_t depth, const char *a, const char *b, int64_t b_step,
                            char *tile, int64_t tile_row, gemm_store_mode mode) {
    gemm_tile_of(rows, vectors, depth, a, sizeof(float), GEMM_MR * sizeof(float), b, b_step, NULL, tile, tile_row, mode,
                 NULL);
}

static void gemm_tile(int64_t depth, const float *a, const float *b, char *tile, int64_t tile_row,
                      gemm_store_mode mode) {
    gemm_panel_tile(GEMM_MR, GEMM_NR_VECTORS, depth, (const char *)a, (const char *)b, GEMM_NR * sizeof *b, tile,
                    tile_row, mode);
}

INLINE void gemm_edge_tile_of(int64_t rows, int vectors, int64_t depth, const char *a, const char *b, int64_t b_step,
                              char *tile, int64_t tile_row, gemm_store_mode mode) {
    if (rows <= GEMM_EDGE_MR && GEMM_EDGE_MR < GEMM_MR) {
        PATH_IF(GEMM_EDGE_MR < GEMM_MR && vectors == 1, "gemm_edge_tile: EDGE_MR rows of one vector");
        PATH_IF(GEMM_EDGE_MR < GEMM_MR && vectors > 1, "gemm_edge_tile: EDGE_MR rows of all vectors");
        gemm_panel_tile(GEMM_EDGE_MR, vectors, depth, a, b, b_step, tile, tile_row, mode);
    } else if (rows <= 2 * GEMM_EDGE_MR && 2 * GEMM_EDGE_MR < GEMM_MR) {
        PATH_IF(2 * GEMM_EDGE_MR < GEMM_MR && vectors == 1, "gemm_edge_tile: 2 * EDGE_MR rows of one vector");
        PATH_IF(2 * GEMM_EDGE_MR < GEMM_MR && vectors > 1, "gemm_edge_tile: 2 * EDGE_MR rows of all vectors");
        gemm_panel_tile(2 * GEMM_EDGE_MR, vectors, depth, a, b, b_step, tile, tile_row, mode);
    } else {
        PATH_IF(vectors == 1, "gemm_edge_tile: MR rows of one vector");
        PATH_IF(vectors > 1, "gemm_edge_tile: MR rows of all vectors");
        gemm_panel_tile(GEMM_MR, vectors, depth, a, b, b_step, tile, tile_row, mode);
    }
}

/* Computes a tile at the edge of C. Rounds `rows` up to a multiple of GEMM_EDGE_MR. If all columns fit in one
 * vector, computes only one vector per row. */
static void gemm_edge_tile(int64_t rows, int64_t columns, int64_t depth, const char *a, const char *b, int64_t b_step,
                           char *tile, int64_t tile_row, gemm_store_mode mode) {
    if (columns <= VF32_LANES && VF32_LANES < GEMM_NR) {
        gemm_edge_tile_of(rows, 1, depth, a, b, b_step, tile, tile_row, mode);
    } else {
        gemm_edge_tile_of(rows, GEMM_NR_VECTORS, depth, a, b, b_step, tile, tile_row, mode);
    }
}

/* Computes a tile from GEMM_MR rows of A in place, without packing. Not inlined: WebAssembly engines keep the
 * variables of a loop in registers in small functions, but not in large ones. */
RARE void gemm_tile_in_place(int64_t columns, int64_t depth, const char *a, int64_t a_row, const char *b,
                             int64_t b_step, char *tile, int64_t tile_row, gemm_store_mode mode) {
    if (columns <= VF32_LANES && VF32_LANES < GEMM_NR) {
        PATH("gemm_tile_in_place: one vector");
        gemm_tile_of(GEMM_MR, 1, depth, a, a_row, sizeof(float), b, b_step, NULL, tile, tile_row, mode, NULL);
    } else {
        PATH("gemm_tile_in_place: all vectors");
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, a, a_row, sizeof(float), b, b_step, NULL, tile, tile_row, mode,
                     NULL);
    }
}

/* Computes a tile from a panel of B in place, and copies the panel. `rows`, if not NULL, has the panel's rows; if it is
 * NULL, they are b_step bytes apart. a_row and a_step are the strides of A, in place or packed. */
RARE void gemm_tile_copying_b(int64_t depth, const char *a, int64_t a_row, int64_t a_step, const char *b,
                              int64_t b_step, const gemm_row *rows, char *tile, int64_t tile_row, gemm_store_mode mode,
                              float *copy) {
    if (rows) {
        PATH_IF(GEMM_COPIES_B, "gemm: copies a panel of B from rows that are found");
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, a, a_row, a_step, b, 0, rows, tile, tile_row, mode, copy);
    } else {
        PATH_IF(GEMM_COPIES_B, "gemm: copies a panel of B from equally spaced rows");
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, a, a_row, a_step, b, b_step, NULL, tile, tile_row, mode, copy);
    }
}
