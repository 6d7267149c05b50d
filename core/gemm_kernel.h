/* The micro-kernel of matrix multiplication: a tile of C from steps through a panel of A and one of B. */
#pragma once

#include "gemm.h"

/* The loop that all is spent in: where it begins in a line of code is worth up to 4 %. */
#if __has_attribute(code_align) && !defined __wasm__
#define GEMM_ALIGN_LOOP __attribute__((code_align(64)))
#else
#define GEMM_ALIGN_LOOP
#endif

/* What becomes of the sums: the tile, or added to it. FAR: it was last seen a whole depth ago, and so was the one below,
 * which is next. */
typedef enum gemm_store_mode { GEMM_SET, GEMM_ADD, GEMM_ADD_PREFETCH } gemm_store_mode;

/* Fetches a part of the tile below: all its lines at once would hold up the panels. */
INLINE void gemm_prefetch_tile(const char *tile, int64_t tile_row, int turn) {
    enum { LINE = 64 / sizeof(float) };
    const char *below = tile + GEMM_MR * tile_row;
    for (int r = turn * GEMM_MR / GEMM_PREFETCH_PARTS; r < (turn + 1) * GEMM_MR / GEMM_PREFETCH_PARTS; r++) {
        for (int c = 0; c < GEMM_NR; c += LINE) {
            __builtin_prefetch((const float *)(below + r * tile_row) + c);
        }
    }
}

/* For `rows` rows of A and `vectors` registers of B, which are constants. A's rows are a_row bytes apart and its steps
 * a_step, B's steps b_step. The loops over the tile's registers must be unrolled completely: only then is the array of
 * them kept in registers. */
INLINE void gemm_tile_of(int rows, int vectors, int64_t depth, const char *a, int64_t a_row, int64_t a_step,
                         const char *b, int64_t b_step, char *tile, int64_t tile_row, gemm_store_mode target) {
    vf32 sum[GEMM_MR * GEMM_NR_VECTORS];
    int registers = rows * vectors, far = target == GEMM_ADD_PREFETCH;
#pragma GCC unroll 32
    for (int s = 0; s < registers; s++) {
        sum[s] = vf32_set(0);
    }
    int64_t p = 0;
    for (int turn = 0; p < depth; turn++) {
        if (far) {
            gemm_prefetch_tile(tile, tile_row, turn);
        }
        int64_t end = far ? depth * (turn + 1) / GEMM_PREFETCH_PARTS : depth;
        GEMM_ALIGN_LOOP
        for (; p < end; p++, a += a_step, b += b_step) {
            vf32 values[GEMM_NR_VECTORS];
#pragma GCC unroll 32
            for (int v = 0; v < vectors; v++) {
                values[v] = vf32_load((const float *)b + v * VF32_LANES);
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
        vf32_store(to, target == GEMM_SET ? sum[s] : vf32_load(to) + sum[s]);
    }
}

/* From a panel of A. */
INLINE void gemm_panel_tile(int rows, int vectors, int64_t depth, const char *a, const char *b, int64_t b_step,
                            char *tile, int64_t tile_row, gemm_store_mode target) {
    gemm_tile_of(rows, vectors, depth, a, sizeof(float), GEMM_MR * sizeof(float), b, b_step, tile, tile_row, target);
}

static void gemm_tile(int64_t depth, const float *a, const float *b, char *tile, int64_t tile_row,
                      gemm_store_mode target) {
    gemm_panel_tile(GEMM_MR, GEMM_NR_VECTORS, depth, (const char *)a, (const char *)b, GEMM_NR * sizeof *b, tile,
                    tile_row, target);
}

INLINE void gemm_edge_tile_of(int64_t rows, int vectors, int64_t depth, const char *a, const char *b, int64_t b_step,
                              char *tile, int64_t tile_row, gemm_store_mode target) {
    if (rows <= GEMM_EDGE_MR && GEMM_EDGE_MR < GEMM_MR) {
        gemm_panel_tile(GEMM_EDGE_MR, vectors, depth, a, b, b_step, tile, tile_row, target);
    } else if (rows <= 2 * GEMM_EDGE_MR && 2 * GEMM_EDGE_MR < GEMM_MR) {
        gemm_panel_tile(2 * GEMM_EDGE_MR, vectors, depth, a, b, b_step, tile, tile_row, target);
    } else {
        gemm_panel_tile(GEMM_MR, vectors, depth, a, b, b_step, tile, tile_row, target);
    }
}

/* The last panel of A has fewer rows, and computes no more than a multiple of GEMM_EDGE_MR; that of B as few registers as
 * hold its columns. */
static void gemm_edge_tile(int64_t rows, int64_t columns, int64_t depth, const char *a, const char *b, int64_t b_step,
                           char *tile, int64_t tile_row, gemm_store_mode target) {
    if (columns <= VF32_LANES && VF32_LANES < GEMM_NR) {
        gemm_edge_tile_of(rows, 1, depth, a, b, b_step, tile, tile_row, target);
    } else {
        gemm_edge_tile_of(rows, GEMM_NR_VECTORS, depth, a, b, b_step, tile, tile_row, target);
    }
}

/* From GEMM_MR rows of A that are not packed. Out of line: engines that compile WebAssembly keep the loops of a small
 * function in registers, not those of a large one. */
RARE void gemm_tile_in_place(int64_t columns, int64_t depth, const char *a, int64_t a_row, const char *b,
                             int64_t b_step, char *tile, int64_t tile_row, gemm_store_mode target) {
    if (columns <= VF32_LANES && VF32_LANES < GEMM_NR) {
        gemm_tile_of(GEMM_MR, 1, depth, a, a_row, sizeof(float), b, b_step, tile, tile_row, target);
    } else {
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, a, a_row, sizeof(float), b, b_step, tile, tile_row, target);
    }
}
