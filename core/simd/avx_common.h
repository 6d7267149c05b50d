/* The common part of AVX and AVX2: 256-bit floats, rounding and masked memory access. AVX has no 256-bit integer
 * instructions; the compiler splits vi32 arithmetic in two. */
#pragma once

#define VF32_LANES 8
#define SIMD_STREAM 1
#define SIMD_OWN_PARTIAL
#include <immintrin.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm256_sqrt_ps(x); }
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return portable_minimum(a, b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return portable_maximum(a, b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm256_max_ps(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm256_min_ps(high, x); }
INLINE vf32 vf32_floor(vf32 x) { return _mm256_floor_ps(x); }
INLINE vf32 vf32_ceil(vf32 x) { return _mm256_ceil_ps(x); }
INLINE vf32 vf32_trunc(vf32 x) { return _mm256_round_ps(x, _MM_FROUND_TO_ZERO); }
INLINE vf32 vf32_round(vf32 x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE int vm32_any(vm32 m) { return _mm256_movemask_ps((__m256)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm256_movemask_ps((__m256)m) == 255; }

INLINE void vi32_stream(int32_t *p, vi32 x) { _mm256_stream_si256((__m256i *)p, (__m256i)x); }
INLINE void stream_end(void) { _mm_sfence(); }

/* Returns a mask of the first n lanes. `window` has eight set lanes, then eight clear ones; loading from element 8 - n
 * gives n set lanes. */
INLINE __m256i avx_tail_mask(int n) {
    static const int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(window + 8 - n));
}
INLINE vf32 vf32_load_partial(const float *p, int n, vf32 pad) {
    __m256i first = avx_tail_mask(n);
    return _mm256_blendv_ps(pad, _mm256_maskload_ps(p, first), (__m256)first);
}
INLINE void vf32_store_partial(float *p, vf32 x, int n) { _mm256_maskstore_ps(p, avx_tail_mask(n), x); }
INLINE vi32 vi32_load_partial(const int32_t *p, int n, vi32 pad) {
    return (vi32)vf32_load_partial((const float *)p, n, (vf32)pad);
}
INLINE void vi32_store_partial(int32_t *p, vi32 x, int n) { vf32_store_partial((float *)p, (vf32)x, n); }
