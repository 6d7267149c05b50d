/* GEMM's block sizes, one row per instruction set. The names are those of BLIS.
 *
 * The micro-kernel keeps a tile of MR rows x NR_VECTORS vectors of C in registers and needs NR_VECTORS + 1 more
 * registers, for B and A. At the lower edge of C, tiles have a multiple of EDGE_MR rows; EDGE_MR is MR or a third of
 * it. A panel of A, KC x MR elements, fits in L1. If a panel of B, KC x NR elements, fits in L1 too, it stays there,
 * and L2 holds an MC x KC block of A. On avx512, it can be longer; then the panel of A stays in L1, and L2 holds
 * LONG_NC columns of B, of which each step along k loads only 128 bytes for 24 vector multiply-adds. L3 holds
 * PACKED_ROWS rows of A and NC columns of B.
 *
 * KC decides in which order the terms of an element are summed, so it is the same on all processors with an instruction
 * set: results do not depend on the size of a cache. It fits 32 KB of L1, the least that processors with AVX have. The
 * other sizes do not change results. They fit 1 MB of L2 and 16 MB of L3; if lw_context gives smaller caches,
 * gemm_sizes.h reduces them. Larger sizes gain nothing with larger caches.
 *
 * Measured on one core of an AMD EPYC (Zen 4, 32 KB L1, 1 MB L2), 2026-11, in GFLOP/s for 512 x 512: avx512 112, avx2
 * 109 (peak of both: 118), avx 88, sse2 37, scalar 11; relaxed_simd in Node 24: 48. With avx512 on this processor,
 * tiles with fewer rows are as fast, and for 64 x 64, tiles with 8 rows gain 3 GFLOP/s.
 *
 * Measured, also in GFLOP/s, on one core of an Intel Xeon with AMX (48 KB L1, 2 MB L2, 28 GB/s from L3; twice as many
 * multiply-adds per cycle as the EPYC), 2026-11:
 *   - Without cache misses, loads limit the micro-kernel to 197. It reaches 184 with MR = 8 and 195 with MR = 12;
 *     MR = 14 gains nothing more.
 *   - For square matrices of 384, 512, 1024 and 2048 rows: 162, 162, 153 and 161, and MKL 161, 161, 156 and 160. If
 *     long panels of B stayed in L1, as shorter ones do, 155, 155, 144 and 153. LONG_NC = 128 is as fast.
 *   - On another day, with long panels in L1, for 256, 512, 1024 and 2048 rows: 167, 156, 157 and 159. KC = 256 reached
 *     162, 152, 154 and 161. Without prefetching B, it was 155, 152, 152 and 158.
 *   - If the first tile copies a panel of B instead of a loop before it, 128 x 128 gains 5 %. Reading A in place gains
 *     3 % for 256 x 256 (on the EPYC, too), 6 % for 384 x 384, 3 % for 512 x 512, and loses 4 % for 900 x 900. For
 *     2048 x 512 it loses 10 %, because rows of A 8 KB apart share sets of the caches. On the EPYC, whose L1 has 8
 *     ways, rows 4 or 8 KB apart lose 5 to 14 % with 64 to 256 columns and gain 3 to 10 % with 16 or 32; avx2, with 6
 *     rows, gains up to 160 columns. Transposing A by whole registers gains nothing.
 *   - If a neighbor keeps the other hyperthread of the core busy, instructions limit the micro-kernel. For panels in L1
 *     and L2, it then reaches 138 if all rows are broadcast to registers, 144, 149, 152 and 146 if 9, 6, 3 and none of
 *     12 are, and 3 more if 4 steps are unrolled; without a neighbor, 178 in all cases. Products gain 7 to 17 %, and
 *     conv2d 7 to 14 %. AVX2 gains 7 to 18 % by unrolling, but conv2d loses 3 % if tiles that copy B are unrolled, too.
 *   - Packing B panel by panel would lose 8 at 1024 x 1024. Prefetching a tile of C all at once would lose 10 at 2048 x
 *     2048, because that many misses delay loads of the panels.
 * relaxed_simd in Node 24, for 128, 256, 512, 1024 and 2048 rows: 49, 51, 50, 49 and 48 GFLOP/s on the EPYC, where a
 * loop of multiply-adds reaches 59; 36, 37, 36, 34 and 34 on the Xeon, where it reaches 39. For 1024 rows on the EPYC,
 * KC = 256 is 2 % slower. neon is not tuned. */
#pragma once

#include "element.h"

#if defined LW_ISA_AVX512
enum { GEMM_MR = 12, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 512, GEMM_MC = 96 };
#elif defined LW_ISA_AVX2 || defined LW_ISA_AVX
enum { GEMM_MR = 6, GEMM_EDGE_MR = 2, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 256, GEMM_MC = 192 };
#elif defined LW_ISA_SSE2
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 256, GEMM_MC = 192 };
#elif defined LW_ISA_NEON
enum { GEMM_MR = 8, GEMM_EDGE_MR = 8, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 256, GEMM_MC = 192 };
#elif VF32_LANES == 4 /* WebAssembly */
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 384, GEMM_MC = 192 };
#else
enum { GEMM_MR = 4, GEMM_EDGE_MR = 4, GEMM_NR_VECTORS = 2, GEMM_KC_32 = 256, GEMM_MC = 64 };
#endif

/* The micro-kernel's loop along k: how many steps ahead it prefetches B (0 turns that off), how many steps are
 * unrolled, and how many in tiles that copy B. */
#if defined LW_ISA_AVX512
enum { GEMM_PREFETCH_STEPS = 8, GEMM_UNROLL = 4, GEMM_COPY_UNROLL = 4 };
#elif defined LW_ISA_AVX2
enum { GEMM_PREFETCH_STEPS = 0, GEMM_UNROLL = 4, GEMM_COPY_UNROLL = 1 };
#else
enum { GEMM_PREFETCH_STEPS = 0, GEMM_UNROLL = 1, GEMM_COPY_UNROLL = 1 };
#endif

/* COPIES_B is whether there is a function that copies panels of B, which pages would have to download. KNOWS_CACHES is
 * whether the host may report the sizes of caches; nothing tells a page. If a panel of A in place stays in L1, packing
 * A does not pay if C has at most NARROW_N columns, or if it has at most NARROW_ONE_TASK_N and the product is one
 * task, or at most NARROW_LONG_N on one thread, if panels of B are long. */
#if defined __wasm__
enum { GEMM_COPIES_B = 0, GEMM_KNOWS_CACHES = 0, GEMM_NARROW_ONE_TASK_N = 160, GEMM_NARROW_LONG_N = 160 };
#else
enum { GEMM_COPIES_B = 1, GEMM_KNOWS_CACHES = 1, GEMM_NARROW_ONE_TASK_N = 256, GEMM_NARROW_LONG_N = 512 };
#endif
enum { GEMM_NARROW_N = 160 };

enum {
    GEMM_KC = GEMM_KC_32 * 4 / ELEMENT_SIZE, /* the table has that of elements with 32 bits */
    GEMM_NR = GEMM_NR_VECTORS * LANES,
    GEMM_L1_ELEMENTS = (1 << 15) / ELEMENT_SIZE, /* 32 KB */
    GEMM_PACKED_ROWS = 2048 / GEMM_MC * GEMM_MC, /* rows of A packed at a time: 2 to 4 MB of L3 */
    GEMM_NC = 4096,                              /* columns of B packed at a time: 4 to 8 MB of L3 */
    GEMM_TASK_NC = 512,                          /* maximum columns of C per task; a task has up to GEMM_MC rows */
    GEMM_TASK_WORK = 1 << 20,                    /* a task has enough columns for about this many multiply-adds */
    GEMM_ONE_TASK_A = 1 << 16,                   /* elements of A that stay in L2 while one task multiplies them */
    GEMM_CACHED_ELEMENTS = 1 << 14,              /* a task's panels of B stay in L1 and L2 up to this many elements */
    /* Whether panels of B that tasks share can be larger than that: tasks that share them have over MC / 2 rows, unless
     * a small L2 reduces MC. */
    GEMM_HAS_LARGE_TASKS = GEMM_KNOWS_CACHES ||
        GEMM_TASK_WORK / (GEMM_MC / 2) + GEMM_NR * GEMM_KC > GEMM_CACHED_ELEMENTS,
    GEMM_L1_WAYS = 8,                     /* lines per set of L1, in the smallest that have been measured */
    GEMM_L1_PANEL = GEMM_L1_ELEMENTS / 2, /* elements of a panel of B that stays in L1; a longer one comes from L2 */
    GEMM_HAS_LONG_PANELS = GEMM_NR * GEMM_KC > GEMM_L1_PANEL,
    GEMM_LONG_NC = 256,      /* maximum columns of C per task if panels of B are long; L2 holds all of them */
    GEMM_LONG_TASKS = 16,    /* tasks per thread and block of k, unless GEMM_TASK_WORK gives fewer */
    GEMM_PREFETCH_PARTS = 3, /* a tile of C is prefetched in this many parts, to limit misses in flight */
    GEMM_BROADCAST_ROWS = 4, /* with embedded broadcasts, one row of A in this many still takes a register */
    GEMM_MASKS = 49,    /* masks of rows in place: one for each tap of a convolution with a kernel of up to 7 x 7 */
    GEMM_PACK_KC = 32,  /* steps along k that are packed for all panels at once */
    GEMM_STACK_KC = 128 /* KC of panels on the stack, used if there is no scratch memory */
};

enum { GEMM_KEPT_ROWS = GEMM_HAS_LONG_PANELS ? GEMM_MR : GEMM_MR + GEMM_NR }; /* of panels that stay in L1 */
_Static_assert(4 * GEMM_KEPT_ROWS * GEMM_KC <= 3 * GEMM_L1_ELEMENTS, "panels leave a quarter of L1 to C and the stack");
