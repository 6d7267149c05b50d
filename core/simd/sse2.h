/* SSE2, the baseline of x86-64: no FMA, no rounding instructions, no blend. */
#define SIMD_NAME "sse2"
#define SIMD_FEATURES LW_CPU_SSE2
#define VF32_LANES 4
#define SIMD_STREAM 1
#include <emmintrin.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm_sqrt_ps(x); }
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return portable_minimum(a, b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return portable_maximum(a, b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm_max_ps(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm_min_ps(high, x); }
INLINE vf32 vf32_floor(vf32 x) { return portable_floor(x); }
INLINE vf32 vf32_ceil(vf32 x) { return portable_ceil(x); }
INLINE vf32 vf32_trunc(vf32 x) { return portable_trunc(x); }
INLINE vf32 vf32_round(vf32 x) { return portable_round(x); }
INLINE int vm32_any(vm32 m) { return _mm_movemask_ps((__m128)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm_movemask_ps((__m128)m) == 15; }
INLINE void vi32_stream(int32_t *p, vi32 x) { _mm_stream_si128((__m128i *)p, (__m128i)x); }
INLINE void stream_end(void) { _mm_sfence(); }
