/* The vocabulary of vectors: one library is compiled for one instruction set, chosen by -DLW_ISA_<NAME>.
 * README.md in this folder lists every name. */
#pragma once

/* 1.5 2^23. Added to a float that is small beside it, it leaves no bits for a fraction: the sum is rounded to a whole
 * number, which its low bits hold. */
#define SIMD_ROUND_MAGIC 0x1.8p23f

/* The same and the bias of exponents: the low bits of k + SIMD_EXPONENT_MAGIC are those that 2^k has as its exponent. */
#define SIMD_EXPONENT_MAGIC (SIMD_ROUND_MAGIC + 127)

#if defined LW_ISA_CUDA
#include "simd/cuda.h"
#else

#if defined LW_ISA_SCALAR
#include "simd/scalar.h"
#elif defined LW_ISA_SSE2
#include "simd/sse2.h"
#elif defined LW_ISA_AVX
#include "simd/avx.h"
#elif defined LW_ISA_AVX2
#include "simd/avx2.h"
#elif defined LW_ISA_AVX512
#include "simd/avx512.h"
#elif defined LW_ISA_NEON
#include "simd/neon.h"
#elif defined LW_ISA_SIMD128
#include "simd/simd128.h"
#elif defined LW_ISA_RELAXED_SIMD
#include "simd/relaxed_simd.h"
#else
#error "define LW_ISA_<NAME>, the instruction set to compile for"
#endif

#ifndef SIMD_PARTIAL
#define SIMD_PARTIAL 1 /* every elementwise kernel has a second body for the elements that fill no register */
#endif

#ifndef SIMD_STREAM
#define SIMD_STREAM 0 /* there are stores that go past the caches: vi32_stream, stream_end */
#endif

#ifndef SIMD_SCALE
#define SIMD_SCALE 0 /* vf32_scale is one instruction: a way around it costs more */
#endif

#ifndef SIMD_TABLES
#define SIMD_TABLES 0 /* vf32_lookup_32 is one instruction: a table is worth a few others */
INLINE vf32 vf32_lookup_32(const float *table, vi32 i) {
    return vf32_from_bits(vu32_to_vi32(vu32_lookup((const uint32_t *)table, vi32_and(i, vi32_set(31)))));
}
#endif

#ifndef SIMD_REPRODUCIBLE
#define SIMD_REPRODUCIBLE(kernel) (kernel) /* how a kernel with the same bits everywhere enters the table */
#endif

#include "simd/convert.h"
#include "simd/memory.h"
#include "simd/reduce.h"

#endif
