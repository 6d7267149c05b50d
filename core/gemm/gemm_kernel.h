/* The GEMM micro-kernel: multiplies a panel of A by a panel of B into a tile of C. */
#pragma once

#include "gemm/gemm.h"

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

/* A panel of B in place, which the tile that is computed from it copies to `copy`. */
typedef struct gemm_panel {
    const char *b;
    int64_t step;         /* stride along k */
    const gemm_row *rows; /* replaces `step` unless NULL */
    element *copy;
} gemm_panel;

/* Prefetches one of GEMM_PREFETCH_PARTS parts of the tile below. Prefetching all its cache lines at once would delay
 * loads of the panels. */
INLINE void gemm_prefetch_tile(const char *tile, int64_t tile_row, int part) {
    enum { LINE = 64 / sizeof(element) };
    const char *below = tile + GEMM_MR * tile_row;
    for (int r = part * GEMM_MR / GEMM_PREFETCH_PARTS; r < (part + 1) * GEMM_MR / GEMM_PREFETCH_PARTS; r++) {
        for (int c = 0; c < GEMM_NR; c += LINE) {
            __builtin_prefetch((const element *)(below + r * tile_row) + c);
        }
    }
}

/* The operands of a tile, at the next step along k. The flags are compile-time constants. */
typedef struct gemm_operands {
    int a_in_place, b_in_place, copies_b;
    const char *a;            /* a panel of A or, if a_in_place, the first of its rows, which are contiguous */
    int64_t a_row;            /* the stride between these, in bytes */
    const char *row[GEMM_MR]; /* their addresses, which replace a and a_row if gemm_has_addresses() */
    const char *b;
    int64_t b_step;        /* stride of B along k, in bytes, unless b_in_place */
    const gemm_row *b_row; /* rows of B in place, relative to b */
    element *copy;         /* where B is copied to, if copies_b */
} gemm_operands;

INLINE int gemm_has_addresses(const gemm_operands *o) { return SIMD_EMBEDDED_BROADCAST && o->a_in_place; }

/* Returns whether multiply-adds read their factor of A from memory. That saves an instruction, but only if its address
 * has no index, so each row in place needs a register for its address. If B is copied, too few are left. */
INLINE int gemm_reads_a(const gemm_operands *o) { return SIMD_EMBEDDED_BROADCAST && !(o->a_in_place && o->copies_b); }

/* Returns the element of row r of A for the step that follows `u` others. */
INLINE const element *gemm_element(const gemm_operands *o, int r, int u) {
    if (gemm_has_addresses(o)) {
        return (const element *)o->row[r] + u;
    }
    return o->a_in_place ? (const element *)(o->a + r * o->a_row) + u : (const element *)o->a + u * GEMM_MR + r;
}

/* Loads the vectors of B for the step that follows `u` others. */
INLINE void gemm_load_b(int vectors, int u, const gemm_operands *o, vec *values) {
#pragma GCC unroll 32
    for (int v = 0; v < vectors; v++) {
        const element *b = (const element *)(o->b + (o->b_in_place ? o->b_row[u].from : u * o->b_step)) + v * LANES;
        values[v] = v_load(b);
        if (o->b_in_place) {
            values[v] = v_from_bits(v_bits(values[v]) & b_load(o->b_row[u].inside + v * LANES));
        } else if (GEMM_PREFETCH_STEPS > 0) {
            __builtin_prefetch((const char *)b + GEMM_PREFETCH_STEPS * o->b_step);
        }
        if (o->copies_b) {
            v_store(o->copy + u * GEMM_NR + v * LANES, values[v]);
        }
    }
}

/* Adds the products of the next `steps` steps along k to `sum`. */
INLINE void gemm_steps(int height, int vectors, int steps, gemm_operands *o, vec *sum) {
#pragma GCC unroll 32
    for (int u = 0; u < steps; u++) {
        vec values[GEMM_NR_VECTORS];
        gemm_load_b(vectors, u, o, values);
#pragma GCC unroll 32
        for (int s = 0; s < height * vectors; s++) {
            int r = s / vectors;
            const element *x = gemm_element(o, r, u);
            vec y = values[s % vectors];
            sum[s] = gemm_reads_a(o) && r % GEMM_BROADCAST_ROWS
                         ? v_fma_broadcast(x, y, sum[s])
                         : v_fma(v_set(element_load((const char *)x)), y, sum[s]);
        }
    }
#pragma GCC unroll 32
    for (int r = 0; r < height && gemm_has_addresses(o); r++) {
        o->row[r] += steps * sizeof(element);
        if (gemm_reads_a(o)) {
            __asm__("" : "+r"(o->row[r])); /* otherwise the compiler adds to one index instead of each address */
        }
    }
    o->a += steps * (o->a_in_place ? 1 : GEMM_MR) * sizeof(element);
    if (o->b_in_place) {
        o->b_row += steps;
    } else {
        o->b += steps * o->b_step;
    }
    if (o->copies_b) {
        o->copy += steps * GEMM_NR;
    }
}

/* Computes a tile of `height` rows of `vectors` vectors each; both are compile-time constants. The loops over the tile
 * must be unrolled completely: only then does the compiler keep `sum` in registers. */
INLINE void gemm_tile_of(int height, int vectors, int64_t depth, gemm_operands o, char *tile, int64_t tile_row,
                         gemm_store_mode mode) {
    vec sum[GEMM_MR * GEMM_NR_VECTORS];
    const int registers = height * vectors, prefetch = mode == GEMM_ADD_PREFETCH;
    const int unroll = o.copies_b ? GEMM_COPY_UNROLL : GEMM_UNROLL;
#pragma GCC unroll 32
    for (int s = 0; s < registers; s++) {
        sum[s] = v_set(0);
    }
#pragma GCC unroll 32
    for (int r = 0; r < height && gemm_has_addresses(&o); r++) {
        o.row[r] = o.a + r * o.a_row;
    }
    int64_t p = 0, end;
    for (int part = 0; p < depth; part++, p = end) {
        if (prefetch) {
            gemm_prefetch_tile(tile, tile_row, part);
        }
        end = prefetch ? depth * (part + 1) / GEMM_PREFETCH_PARTS : depth;
        int64_t left = (end - p) / unroll;
        GEMM_ALIGN_LOOP
        for (; left != 0; left--) {
            gemm_steps(height, vectors, unroll, &o, sum);
        }
        for (left = (end - p) % unroll; unroll > 1 && left != 0; left--) {
            PATH_IF(GEMM_UNROLL > 1, "gemm_tile_of: single steps after unrolled ones");
            gemm_steps(height, vectors, 1, &o, sum);
        }
    }
#pragma GCC unroll 32
    for (int s = 0; s < registers; s++) {
        element *to = (element *)(tile + s / vectors * tile_row) + s % vectors * LANES;
        v_store(to, mode == GEMM_SET ? sum[s] : v_load(to) + sum[s]);
    }
}

static void gemm_tile(int64_t depth, const element *a, const element *b, char *tile, int64_t tile_row,
                      gemm_store_mode mode) {
    gemm_operands o = {.a = (const char *)a, .b = (const char *)b, .b_step = GEMM_NR * sizeof *b};
    gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
}

INLINE void gemm_edge_tile_of(int64_t rows, int vectors, int64_t depth, gemm_operands o, char *tile, int64_t tile_row,
                              gemm_store_mode mode) {
    if (rows <= GEMM_EDGE_MR && GEMM_EDGE_MR < GEMM_MR) {
        PATH_IF(GEMM_EDGE_MR < GEMM_MR && vectors == 1, "gemm_edge_tile: EDGE_MR rows of one vector");
        PATH_IF(GEMM_EDGE_MR < GEMM_MR && vectors > 1, "gemm_edge_tile: EDGE_MR rows of all vectors");
        gemm_tile_of(GEMM_EDGE_MR, vectors, depth, o, tile, tile_row, mode);
    } else if (rows <= 2 * GEMM_EDGE_MR && 2 * GEMM_EDGE_MR < GEMM_MR) {
        PATH_IF(2 * GEMM_EDGE_MR < GEMM_MR && vectors == 1, "gemm_edge_tile: 2 * EDGE_MR rows of one vector");
        PATH_IF(2 * GEMM_EDGE_MR < GEMM_MR && vectors > 1, "gemm_edge_tile: 2 * EDGE_MR rows of all vectors");
        gemm_tile_of(2 * GEMM_EDGE_MR, vectors, depth, o, tile, tile_row, mode);
    } else {
        PATH_EITHER(vectors == 1, "gemm_edge_tile: MR rows of one vector", "gemm_edge_tile: MR rows of all vectors");
        gemm_tile_of(GEMM_MR, vectors, depth, o, tile, tile_row, mode);
    }
}

/* Computes a tile at the edge of C. Rounds `rows` up to a multiple of GEMM_EDGE_MR. If all columns fit in one
 * vector, computes only one vector per row. */
static void gemm_edge_tile(int64_t rows, int64_t columns, int64_t depth, const char *a, const char *b, int64_t b_step,
                           char *tile, int64_t tile_row, gemm_store_mode mode) {
    gemm_operands o = {.a = a, .b = b, .b_step = b_step};
    if (columns <= LANES && LANES < GEMM_NR) {
        gemm_edge_tile_of(rows, 1, depth, o, tile, tile_row, mode);
    } else {
        gemm_edge_tile_of(rows, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    }
}

/* Computes a tile from GEMM_MR rows of A in place, without packing. Not inlined: WebAssembly engines keep the
 * variables of a loop in registers in small functions, but not in large ones. */
RARE void gemm_tile_in_place(int64_t columns, int64_t depth, const char *a, int64_t a_row, const char *b,
                             int64_t b_step, char *tile, int64_t tile_row, gemm_store_mode mode) {
    gemm_operands o = {.a_in_place = 1, .a = a, .a_row = a_row, .b = b, .b_step = b_step};
    if (columns <= LANES && LANES < GEMM_NR) {
        PATH("gemm_tile_in_place: one vector");
        gemm_tile_of(GEMM_MR, 1, depth, o, tile, tile_row, mode);
    } else {
        PATH("gemm_tile_in_place: all vectors");
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    }
}

/* Computes a tile from a panel of B in place, and copies the panel. A is a panel if a_row is 0, or else rows in
 * place. */
RARE void gemm_tile_copying_b(int64_t depth, const char *a, int64_t a_row, const gemm_panel *b, char *tile,
                              int64_t tile_row, gemm_store_mode mode) {
    PATH_EITHER(b->rows, "gemm: copies a panel of B from rows that are found",
                "gemm: copies a panel of B from equally spaced rows");
    gemm_operands o = {.copies_b = 1, .a = a, .a_row = a_row, .b = b->b, .b_step = b->step, .copy = b->copy};
    o.b_row = b->rows;
    if (a_row && b->rows) {
        o.a_in_place = o.b_in_place = 1;
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    } else if (a_row) {
        o.a_in_place = 1;
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    } else if (b->rows) {
        o.b_in_place = 1;
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    } else {
        gemm_tile_of(GEMM_MR, GEMM_NR_VECTORS, depth, o, tile, tile_row, mode);
    }
}
