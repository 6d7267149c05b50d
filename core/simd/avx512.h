/* AVX-512 F, BW, DQ and VL (Skylake-X, Zen 4 and later). */
#define SIMD_NAME "avx512"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX | LW_CPU_AVX2 | LW_CPU_FMA | LW_CPU_F16C | LW_CPU_AVX512)
#define VF32_LANES 16
#define SIMD_STREAM 1
#define SIMD_SCALE 1
#define SIMD_TABLES 1
#define SIMD_EMBEDDED_BROADCAST 1
#define SIMD_OWN_FMA
#define SIMD_OWN_LOOKUP
#define SIMD_OWN_FLOAT16
#define SIMD_OWN_PARTIAL
#include <immintrin.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm512_sqrt_ps(x); }
INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return _mm512_fmadd_ps(x, y, z); }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return _mm512_fmadd_ps(x, y, z); }
/* In assembly, because compilers would load a factor that is used twice into a register. */
typedef float avx512_any_float __attribute__((aligned(1)));
INLINE vf32 vf32_fma_broadcast(const float *x, vf32 y, vf32 z) {
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(z) : "v"(y), "m"(*(const avx512_any_float *)x));
    return z;
}
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) {
    vf32 one = vf32_set(1);
    __asm__("" : "+v"(one)); /* hides the 1 from the compiler, which would replace the FMA by an addition */
    return _mm512_fmadd_ps(x, one, y);
}
/* vrangeps orders -0 below +0 but ignores NaN. In lanes where an operand is NaN, the masked addition makes the result
 * NaN. In the immediate of vrangeps, 4 keeps the sign of the selected operand; bit 0 selects the smaller (0) or the
 * larger (1). */
INLINE vf32 vf32_minimum(vf32 a, vf32 b) {
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, 4), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf32 vf32_maximum(vf32 a, vf32 b) {
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, 5), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm512_max_ps(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm512_min_ps(high, x); }
INLINE vf32 vf32_floor(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF); }
INLINE vf32 vf32_ceil(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_POS_INF); }
INLINE vf32 vf32_trunc(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_ZERO); }
INLINE vf32 vf32_round(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE vf32 vf32_scale(vf32 x, vf32 k_magic) { return _mm512_scalef_ps(x, k_magic - vf32_set(SIMD_ROUND_MAGIC)); }
INLINE vf32 vf32_scale_normal(vf32 x, vf32 k_magic) { return vf32_scale(x, k_magic); }
INLINE vf32 vf32_scale_floor(vf32 x, vf32 k) { return _mm512_scalef_ps(x, k); }
INLINE int vm32_any(vm32 m) { return _mm512_movepi32_mask((__m512i)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm512_movepi32_mask((__m512i)m) == 0xffff; }
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) { return (vu32)_mm512_i32gather_epi32((__m512i)i, table, 4); }
INLINE vf32 vf32_lookup_16(const float *table, vi32 i) {
    return _mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(table));
}
INLINE vf32 vf32_lookup_32(const float *table, vi32 i) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)i, _mm512_loadu_ps(table + 16));
}
INLINE vf32 vf32_from_float16(vu16 x) { return _mm512_cvtph_ps((__m256i)x); }
INLINE vu16 vf32_to_float16(vf32 x) { return (vu16)_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }

INLINE void vi32_stream(int32_t *p, vi32 x) { _mm512_stream_si512((__m512i *)p, (__m512i)x); }
INLINE void stream_end(void) { _mm_sfence(); }

INLINE __mmask16 avx512_tail_mask(int n) { return (__mmask16)((1u << n) - 1); }
INLINE vf32 vf32_load_partial(const float *p, int n, vf32 pad) {
    return _mm512_mask_loadu_ps(pad, avx512_tail_mask(n), p);
}
INLINE void vf32_store_partial(float *p, vf32 x, int n) { _mm512_mask_storeu_ps(p, avx512_tail_mask(n), x); }
INLINE vi32 vi32_load_partial(const int32_t *p, int n, vi32 pad) {
    return (vi32)_mm512_mask_loadu_epi32((__m512i)pad, avx512_tail_mask(n), p);
}
INLINE void vi32_store_partial(int32_t *p, vi32 x, int n) {
    _mm512_mask_storeu_epi32(p, avx512_tail_mask(n), (__m512i)x);
}
