/* The sizes of matrix multiplication, as data: one row for each instruction set.
 *
 * A micro-kernel keeps rows x vectors registers of results, and needs vectors + 1 more. A panel of B, depth x (vectors
 * x lanes) floats, and one of A, depth x rows, share the first-level cache; a block of A, block x depth, stays in the
 * second-level one. Measured on one core of an AMD Zen 5, 2026-11, in GFLOP/s for 512 x 512: avx512 254, avx2 135, avx
 * 129, sse2 48, scalar 13, simd128 in Node 20 68. One more row or vector spills registers on all but avx512, where 12
 * rows give 265, but 187 instead of 209 for 64 x 64. neon and relaxed_simd are not tuned. */
#ifndef LANEWISE_GEMM_TILES_H
#define LANEWISE_GEMM_TILES_H

#include "simd/simd.h"

#if defined LW_ISA_AVX512
enum { GEMM_ROWS = 8, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#elif defined LW_ISA_AVX2
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#elif defined LW_ISA_AVX
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#elif defined LW_ISA_SSE2
enum { GEMM_ROWS = 4, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#elif defined LW_ISA_NEON
enum { GEMM_ROWS = 8, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#elif VF32_LANES == 4 /* WebAssembly */
enum { GEMM_ROWS = 4, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 192 };
#else
enum { GEMM_ROWS = 4, GEMM_VECTORS = 2, GEMM_DEPTH = 256, GEMM_BLOCK = 64 };
#endif

enum {
    GEMM_COLUMNS = GEMM_VECTORS * VF32_LANES,
    GEMM_OUTER_ROWS = 2048 / GEMM_BLOCK * GEMM_BLOCK, /* of A packed at once: 2 MB in the third-level cache */
    GEMM_OUTER_COLUMNS = 4096,                        /* of B: 4 MB */
    GEMM_TASK_COLUMNS = 512,                          /* a task computes GEMM_BLOCK x GEMM_TASK_COLUMNS results, */
    GEMM_TASK = 1 << 20,                              /* or fewer, with so many multiplications */
    GEMM_STACK_DEPTH = 128                            /* where nothing can be allocated: panels on the stack */
};

#endif
