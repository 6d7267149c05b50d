/* The common part of AVX and AVX2: 256-bit floats, rounding and masked memory access. AVX has no 256-bit integer
 * instructions; the compiler splits vi32 arithmetic in two. */
#pragma once

#define VF32_LANES 8
#define SIMD_STREAM 1
#define SIMD_OWN_BOUNDS
#define SIMD_OWN_ROUNDING
#define SIMD_OWN_ANY
#define SIMD_OWN_LOOKUP_PAIR
#define SIMD_OWN_PARTIAL
#include <immintrin.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm256_sqrt_ps(x); }
INLINE vf64 vf64_sqrt(vf64 x) { return _mm256_sqrt_pd(x); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm256_max_ps(low, x); }
INLINE vf64 vf64_at_least(vf64 x, vf64 low) { return _mm256_max_pd(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm256_min_ps(high, x); }
INLINE vf64 vf64_at_most(vf64 x, vf64 high) { return _mm256_min_pd(high, x); }
INLINE vf32 vf32_floor(vf32 x) { return _mm256_floor_ps(x); }
INLINE vf64 vf64_floor(vf64 x) { return _mm256_floor_pd(x); }
INLINE vf32 vf32_ceil(vf32 x) { return _mm256_ceil_ps(x); }
INLINE vf64 vf64_ceil(vf64 x) { return _mm256_ceil_pd(x); }
INLINE vf32 vf32_trunc(vf32 x) { return _mm256_round_ps(x, _MM_FROUND_TO_ZERO); }
INLINE vf64 vf64_trunc(vf64 x) { return _mm256_round_pd(x, _MM_FROUND_TO_ZERO); }
INLINE vf32 vf32_round(vf32 x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE vf64 vf64_round(vf64 x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE int vm32_any(vm32 m) { return _mm256_movemask_ps((__m256)m) != 0; }
INLINE int vm64_any(vm64 m) { return _mm256_movemask_pd((__m256d)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm256_movemask_ps((__m256)m) == 255; }
INLINE int vm64_all(vm64 m) { return _mm256_movemask_pd((__m256d)m) == 15; }

#include "simd/avx_convert.h"

INLINE void vf64_lookup_pair(const double (*table)[2], vi64 i, vf64 *first, vf64 *second) {
    __m256d even = _mm256_castpd128_pd256(_mm_loadu_pd(table[i[0]]));
    __m256d odd = _mm256_castpd128_pd256(_mm_loadu_pd(table[i[1]]));
    even = _mm256_insertf128_pd(even, _mm_loadu_pd(table[i[2]]), 1);
    odd = _mm256_insertf128_pd(odd, _mm_loadu_pd(table[i[3]]), 1);
    *first = _mm256_unpacklo_pd(even, odd);
    *second = _mm256_unpackhi_pd(even, odd);
}

INLINE void vi32_stream(int32_t *p, vi32 x) { _mm256_stream_si256((__m256i *)p, (__m256i)x); }
INLINE void stream_end(void) { _mm_sfence(); }

/* Returns a mask of the first n lanes of 32 bits. `window` has eight set lanes, then eight clear ones; loading from
 * element 8 - n gives n set lanes. */
INLINE __m256i avx_tail_mask(int n) {
    static const int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(window + 8 - n));
}
INLINE vf32 vf32_load_partial(const float *p, int n, vf32 pad) {
    __m256i first = avx_tail_mask(n);
    return _mm256_blendv_ps(pad, _mm256_maskload_ps(p, first), (__m256)first);
}
INLINE vf64 vf64_load_partial(const double *p, int n, vf64 pad) {
    __m256i first = avx_tail_mask(2 * n);
    return _mm256_blendv_pd(pad, _mm256_maskload_pd(p, first), (__m256d)first);
}
INLINE void vf32_store_partial(float *p, vf32 x, int n) { _mm256_maskstore_ps(p, avx_tail_mask(n), x); }
INLINE void vf64_store_partial(double *p, vf64 x, int n) { _mm256_maskstore_pd(p, avx_tail_mask(2 * n), x); }
INLINE vi32 vi32_load_partial(const int32_t *p, int n, vi32 pad) {
    return (vi32)vf32_load_partial((const float *)p, n, (vf32)pad);
}
INLINE vi64 vi64_load_partial(const int64_t *p, int n, vi64 pad) {
    return (vi64)vf64_load_partial((const double *)p, n, (vf64)pad);
}
INLINE void vi32_store_partial(int32_t *p, vi32 x, int n) { vf32_store_partial((float *)p, (vf32)x, n); }
INLINE void vi64_store_partial(int64_t *p, vi64 x, int n) { vf64_store_partial((double *)p, (vf64)x, n); }
