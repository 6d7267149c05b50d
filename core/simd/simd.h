/* The SIMD vocabulary for one instruction set, chosen by -DLW_ISA_<NAME>. README.md in this folder lists every name. */
#pragma once

/* 1.5 * 2^23. For |x| <= 2^22, x + SIMD_ROUND_MAGIC rounds x to the nearest integer k and holds k in its low bits;
 * subtracting SIMD_ROUND_MAGIC again gives k as a float. */
#define SIMD_ROUND_MAGIC 0x1.8p23f

/* SIMD_ROUND_MAGIC plus the exponent bias: the low bits of k + SIMD_EXPONENT_MAGIC are the exponent bits of 2^k. */
#define SIMD_EXPONENT_MAGIC (SIMD_ROUND_MAGIC + 127)

/* The same for doubles, and |x| <= 2^51. */
#define SIMD_ROUND_MAGIC_64 0x1.8p52
#define SIMD_EXPONENT_MAGIC_64 (SIMD_ROUND_MAGIC_64 + 1023)

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
#define SIMD_PARTIAL 1 /* 1 if elementwise kernels end with partial loads and stores, 0 if they pad the last vector */
#endif

#ifndef SIMD_FUSED
#define SIMD_FUSED 0 /* 1 if F_fma rounds once */
#endif

#ifndef SIMD_PARTITION
#define SIMD_PARTITION 0 /* 1 if it defines vi32_partition and vi64_partition */
#endif

#ifndef SIMD_STREAM
#define SIMD_STREAM 0 /* 1 if vi32_stream is a non-temporal store, and stream_end the fence that it needs */
#endif

#ifndef SIMD_BULK_COPY
#define SIMD_BULK_COPY INT64_MAX /* bytes from which copy_bytes is faster than a loop of vectors */
#endif

#ifndef SIMD_SCALE
#define SIMD_SCALE 0 /* 1 if vf32_scale is one instruction, so code that avoids it is slower */
INLINE vf32 vf32_scale_floor(vf32 x, vf32 k) { return vf32_scale(x, vf32_floor(k) + vf32_set(SIMD_ROUND_MAGIC)); }
#endif

#ifndef SIMD_LOOKUP
#define SIMD_LOOKUP 1 /* 1 if a lookup that is a load for each lane takes less time than ten FMAs */
#endif

#ifndef SIMD_TABLES
#define SIMD_TABLES 0 /* 1 if the lookups are one instruction, so a table is faster than the arithmetic it replaces */
INLINE vf32 vf32_lookup_32(const float *table, vi32 i) {
    return vf32_from_bits(vu32_to_vi32(vu32_lookup((const uint32_t *)table, vi32_and(i, vi32_set(31)))));
}
INLINE vf32 vf32_lookup_16(const float *table, vi32 i) { return vf32_lookup_32(table, vi32_and(i, vi32_set(15))); }
#endif

/* *x * y + z. Integers have no embedded broadcast. */
#define DEFINE_FMA_BROADCAST(type, element)                              \
    INLINE type type##_fma_broadcast(const element *x, type y, type z) { \
        element factor;                                                  \
        __builtin_memcpy(&factor, x, sizeof factor);                     \
        return type##_fma(type##_set(factor), y, z);                     \
    }
#ifndef SIMD_EMBEDDED_BROADCAST
#define SIMD_EMBEDDED_BROADCAST 0 /* 1 if vf32_fma_broadcast is one instruction, which reads x from memory */
DEFINE_FMA_BROADCAST(vf32, float)
DEFINE_FMA_BROADCAST(vf64, double)
#endif
DEFINE_FMA_BROADCAST(vi32, int32_t)
DEFINE_FMA_BROADCAST(vi64, int64_t)
DEFINE_FMA_BROADCAST(vu32, uint32_t)
DEFINE_FMA_BROADCAST(vu64, uint64_t)

#ifndef SIMD_REPRODUCIBLE
#define SIMD_REPRODUCIBLE(kernel) (kernel) /* the entry of a kernel that other libraries have, too */
#endif

#include "simd/convert.h"
#include "simd/memory.h"
#include "simd/reduce.h"

#endif
