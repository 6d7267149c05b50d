/* SSE2, the baseline of x86-64: no FMA, no rounding instructions, no blend. */
#define SIMD_NAME "sse2"
#define SIMD_FEATURES LW_CPU_SSE2
#define VF32_LANES 4
#define SIMD_STREAM 1
#define SIMD_OWN_BOUNDS
#define SIMD_OWN_ANY
#include <emmintrin.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm_sqrt_ps(x); }
INLINE vf64 vf64_sqrt(vf64 x) { return _mm_sqrt_pd(x); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm_max_ps(low, x); }
INLINE vf64 vf64_at_least(vf64 x, vf64 low) { return _mm_max_pd(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm_min_ps(high, x); }
INLINE vf64 vf64_at_most(vf64 x, vf64 high) { return _mm_min_pd(high, x); }
INLINE int vm32_any(vm32 m) { return _mm_movemask_ps((__m128)m) != 0; }
INLINE int vm64_any(vm64 m) { return _mm_movemask_pd((__m128d)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm_movemask_ps((__m128)m) == 15; }
INLINE int vm64_all(vm64 m) { return _mm_movemask_pd((__m128d)m) == 3; }
INLINE void vi32_stream(int32_t *p, vi32 x) { _mm_stream_si128((__m128i *)p, (__m128i)x); }
INLINE void stream_end(void) { _mm_sfence(); }
