/* The sizes of matrix multiplication, as data: one row for each instruction set.
 *
 * A micro-kernel keeps rows x vectors registers of results, and needs vectors + 1 more; the last rows of C are as few as
 * a multiple of GEMM_EDGE_MR, a half or a third of the rows, or all. A panel of A, depth x rows floats, is in the
 * first-level cache. A panel of B, depth x (vectors x lanes), is there too, or comes from the second-level one, which
 * holds it beside a block of A, block x depth: on avx512 128 bytes for 24 multiplications.
 *
 * Measured on one core of an AMD EPYC (Zen 4, 32 KB and 1 MB), 2026-11, in GFLOP/s for 512 x 512: avx512 112, avx2
 * 109 (both of 118), avx 88, sse2 37, scalar 11; relaxed_simd in Node 24 48. Fewer rows on avx512 reach the
 * processor's peak there as well, and 8 gain 3 for 64 x 64. Where twice as many multiplications go in a cycle, they
 * don't: on an Intel Xeon with AMX (48 KB, 2 MB, and a third cache that gives 28 GB/s), 2026-11, the micro-kernel of
 * 8 rows makes 184 of the 197 that registers alone allow beside loads, that of 12 195; 14 gain nothing more. There a
 * depth of 256 gives 160 for 512 x 512, 159 for 1024 x 1024 and 154 for 2048 x 2048, 384 160, 151 and 149; 512,
 * whose panels and whose B outgrow their caches, 151, 147 and 150. Were B packed panel by panel, 1024 x 1024 would
 * have 8 less; were a tile of C fetched at once, 2048 x 2048 10 less: so many misses hold up the panels. One more
 * row or vector spills registers on all the others. relaxed_simd in Node 24 reaches 46, 42 and 42 of 50 with a depth
 * of 384, with 256 41 for 1024 x 1024. neon is not tuned. */
#pragma once

#include "simd/simd.h"

#if defined LW_ISA_AVX512
enum { GEMM_MR = 12, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 192 };
#elif defined LW_ISA_AVX2
enum { GEMM_MR = 6, GEMM_EDGE_MR = 2, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 192 };
#elif defined LW_ISA_AVX
enum { GEMM_MR = 6, GEMM_EDGE_MR = 2, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 192 };
#elif defined LW_ISA_SSE2
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 192 };
#elif defined LW_ISA_NEON
enum { GEMM_MR = 8, GEMM_EDGE_MR = 8, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 192 };
#elif VF32_LANES == 4 /* WebAssembly */
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC = 384, GEMM_MC = 192 };
#else
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC = 256, GEMM_MC = 64 };
#endif

enum {
    GEMM_NR = GEMM_NR_VECTORS * VF32_LANES,
    GEMM_PACKED_ROWS = 2048 / GEMM_MC * GEMM_MC, /* of A packed at once: 2 to 4 MB in the third-level cache */
    GEMM_NC = 4096,                              /* of B: 4 to 8 MB */
    GEMM_TASK_NC = 512,                          /* a task computes GEMM_MC x GEMM_TASK_NC results, */
    GEMM_TASK_WORK = 1 << 20,                    /* or fewer, with so many multiplications */
    GEMM_NARROW_N = 160,                         /* columns of C for which to pack A does not pay */
    GEMM_CACHED_FLOATS = 1 << 14,                /* floats of B that stay in the nearest caches */
    GEMM_PREFETCH_PARTS = 3,                     /* parts in which a tile of C is fetched: few misses at a time */
    GEMM_PACK_KC = 32,                           /* steps of the depth that are packed for all panels at once */
    GEMM_STACK_KC = 128                          /* where nothing can be allocated: panels on the stack */
};
