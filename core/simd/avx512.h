/* AVX-512 F, BW, DQ and VL (Skylake-X, Zen 4 and later). */
#define SIMD_NAME "avx512"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX | LW_CPU_AVX2 | LW_CPU_FMA | LW_CPU_F16C | LW_CPU_AVX512)
#define VF32_LANES 16
#define SIMD_STREAM 1
#define SIMD_SCALE 1
#define SIMD_TABLES 1
#define SIMD_EMBEDDED_BROADCAST 1
#define SIMD_OWN_FMA
#define SIMD_FUSED 1
#define SIMD_OWN_MINIMUM
#define SIMD_OWN_BOUNDS
#define SIMD_OWN_ROUNDING
#define SIMD_OWN_ANY
#define SIMD_OWN_LOOKUP
#define SIMD_OWN_FLOAT16
#define SIMD_PARTITION 1
#define SIMD_OWN_PARTIAL
#define SIMD_OWN_NARROW_PARTIAL
#include <immintrin.h>

#include "simd/avx512_convert.h"
#include "simd/chosen.h"
#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return _mm512_sqrt_ps(x); }

/* sqrt(x), rounded correctly, by Newton's method: 16K roots on a Xeon take 6.9 us, with the instruction 18.1 (2026-11).
 * 1. y = (1 + u)/sqrt(x), |u| <= 2^-14; one step of third order, with e = 1 - x*y^2, makes |u| < 2^-40.
 * 2. g = x*y and d = x - g^2; sqrt(x) = g + d/(g + sqrt(x)), and 1/(g + sqrt(x)) is y/2 within 2^-39 of itself.
 * 3. low and high are g + d*y/2 with y/2 smaller and larger by 2^-37 of itself, so sqrt(x) is between them. If both are
 *    rounded to the same number, it is the rounded root. The root of a zero is the zero.
 * 4. Otherwise the instruction decides; so it does for x < 2^-900, whose d could be denormal, for infinity and NaN.
 * Source: Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM Journal of
 * Research and Development 34, 1990. */
INLINE vf64 vf64_sqrt(vf64 x) {
    vf64 y = _mm512_rsqrt14_pd(x);
    vf64 e = _mm512_fnmadd_pd(x * y, y, _mm512_set1_pd(1));
    y = _mm512_fmadd_pd(y * e, _mm512_fmadd_pd(e, _mm512_set1_pd(0.375), _mm512_set1_pd(0.5)), y);
    vf64 g = x * y, d = _mm512_fnmadd_pd(g, g, x);
    vf64 low = _mm512_fmadd_pd(d, y * _mm512_set1_pd(0.5 - 0x1p-38), g);
    vf64 high = _mm512_fmadd_pd(d, y * _mm512_set1_pd(0.5 + 0x1p-38), g);
    __mmask8 zero = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_EQ_OQ);
    __mmask8 normal = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p-900), _CMP_GE_OQ);
    if (__builtin_expect((_mm512_mask_cmp_pd_mask(normal, low, high, _CMP_EQ_OQ) | zero) != 255, 0)) {
        return _mm512_sqrt_pd(x);
    }
    return _mm512_mask_mov_pd(low, zero, x);
}
INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return _mm512_fmadd_ps(x, y, z); }
INLINE vf64 vf64_fma(vf64 x, vf64 y, vf64 z) { return _mm512_fmadd_pd(x, y, z); }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return _mm512_fmadd_ps(x, y, z); }
INLINE vf64 vf64_fma_strict(vf64 x, vf64 y, vf64 z) { return _mm512_fmadd_pd(x, y, z); }
/* In assembly, because compilers would load a factor that is used twice into a register. */
typedef float avx512_any_float __attribute__((aligned(1)));
typedef double avx512_any_double __attribute__((aligned(1)));
INLINE vf32 vf32_fma_broadcast(const float *x, vf32 y, vf32 z) {
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(z) : "v"(y), "m"(*(const avx512_any_float *)x));
    return z;
}
INLINE vf64 vf64_fma_broadcast(const double *x, vf64 y, vf64 z) {
    __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(z) : "v"(y), "m"(*(const avx512_any_double *)x));
    return z;
}
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) {
    vf32 one = vf32_set(1);
    __asm__("" : "+v"(one)); /* hides the 1 from the compiler, which would replace the FMA by an addition */
    return _mm512_fmadd_ps(x, one, y);
}
INLINE vf64 vf64_add_on_fma_unit(vf64 x, vf64 y) {
    vf64 one = vf64_set(1);
    __asm__("" : "+v"(one));
    return _mm512_fmadd_pd(x, one, y);
}
/* vrangeps orders -0 below +0 but ignores NaN. In lanes where an operand is NaN, the masked addition makes the result
 * NaN. In the immediate of vrangeps, 4 keeps the sign of the selected operand; bit 0 selects the smaller (0) or the
 * larger (1). */
INLINE vf32 vf32_minimum(vf32 a, vf32 b) {
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, 4), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf64 vf64_minimum(vf64 a, vf64 b) {
    return _mm512_mask_add_pd(_mm512_range_pd(a, b, 4), _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf32 vf32_maximum(vf32 a, vf32 b) {
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, 5), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf64 vf64_maximum(vf64 a, vf64 b) {
    return _mm512_mask_add_pd(_mm512_range_pd(a, b, 5), _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), a, b);
}
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return _mm512_max_ps(low, x); }
INLINE vf64 vf64_at_least(vf64 x, vf64 low) { return _mm512_max_pd(low, x); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return _mm512_min_ps(high, x); }
INLINE vf64 vf64_at_most(vf64 x, vf64 high) { return _mm512_min_pd(high, x); }
INLINE vf32 vf32_floor(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF); }
INLINE vf64 vf64_floor(vf64 x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEG_INF); }
INLINE vf32 vf32_ceil(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_POS_INF); }
INLINE vf64 vf64_ceil(vf64 x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_POS_INF); }
INLINE vf32 vf32_trunc(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_ZERO); }
INLINE vf64 vf64_trunc(vf64 x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO); }
INLINE vf32 vf32_round(vf32 x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE vf64 vf64_round(vf64 x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT); }
INLINE vf32 vf32_scale(vf32 x, vf32 k_magic) { return _mm512_scalef_ps(x, k_magic - vf32_set(SIMD_ROUND_MAGIC)); }
INLINE vf64 vf64_scale(vf64 x, vf64 k_magic) { return _mm512_scalef_pd(x, k_magic - vf64_set(SIMD_ROUND_MAGIC_64)); }
INLINE vf32 vf32_scale_normal(vf32 x, vf32 k_magic) { return vf32_scale(x, k_magic); }
INLINE vf64 vf64_scale_normal(vf64 x, vf64 k_magic) { return vf64_scale(x, k_magic); }
INLINE vf32 vf32_scale_floor(vf32 x, vf32 k) { return _mm512_scalef_ps(x, k); }
INLINE vf64 vf64_scale_floor(vf64 x, vf64 k) { return _mm512_scalef_pd(x, k); }
INLINE vf64 vf64_exponent(vf64 x) { return _mm512_getexp_pd(x); }
INLINE vf64 vf64_mantissa(vf64 x) { /* sign control 3: 1 for -0, NaN for other negative x */
    return _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, (_MM_MANTISSA_SIGN_ENUM)3);
}
INLINE int vm32_any(vm32 m) { return _mm512_movepi32_mask((__m512i)m) != 0; }
INLINE int vm64_any(vm64 m) { return _mm512_movepi64_mask((__m512i)m) != 0; }
INLINE int vm32_all(vm32 m) { return _mm512_movepi32_mask((__m512i)m) == 0xffff; }
INLINE int vm64_all(vm64 m) { return _mm512_movepi64_mask((__m512i)m) == 0xff; }
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) { return (vu32)_mm512_i32gather_epi32((__m512i)i, table, 4); }
INLINE vf32 vf32_lookup_16(const float *table, vi32 i) {
    return _mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(table));
}
INLINE vf64 vf64_lookup_16(const double *table, vi64 i) {
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)i, _mm512_loadu_pd(table + 8));
}
INLINE vf32 vf32_lookup_32(const float *table, vi32 i) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)i, _mm512_loadu_ps(table + 16));
}
INLINE vf32 vf32_from_float16(nu16 x) { return _mm512_cvtph_ps((__m256i)x); }
INLINE nu16 vf32_to_float16(vf32 x) { return (nu16)_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }

INLINE void vi32_stream(int32_t *p, vi32 x) { _mm512_stream_si512((__m512i *)p, (__m512i)x); }
INLINE void stream_end(void) { _mm_sfence(); }

INLINE __mmask16 avx512_tail_mask(int n) { return (__mmask16)((1u << n) - 1); }
INLINE __mmask64 avx512_tail_mask_64(int n) { return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX; }
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
INLINE vf64 vf64_load_partial(const double *p, int n, vf64 pad) {
    return _mm512_mask_loadu_pd(pad, (__mmask8)avx512_tail_mask(n), p);
}
INLINE void vf64_store_partial(double *p, vf64 x, int n) { _mm512_mask_storeu_pd(p, (__mmask8)avx512_tail_mask(n), x); }
INLINE vi64 vi64_load_partial(const int64_t *p, int n, vi64 pad) {
    return (vi64)_mm512_mask_loadu_epi64((__m512i)pad, (__mmask8)avx512_tail_mask(n), p);
}
INLINE void vi64_store_partial(int64_t *p, vi64 x, int n) {
    _mm512_mask_storeu_epi64(p, (__mmask8)avx512_tail_mask(n), (__m512i)x);
}
INLINE vi8 vi8_load_partial(const int8_t *p, int n, vi8 pad) {
    return (vi8)_mm512_mask_loadu_epi8((__m512i)pad, avx512_tail_mask_64(n), p);
}
INLINE void vi8_store_partial(int8_t *p, vi8 x, int n) {
    _mm512_mask_storeu_epi8(p, avx512_tail_mask_64(n), (__m512i)x);
}
INLINE vi16 vi16_load_partial(const int16_t *p, int n, vi16 pad) {
    return (vi16)_mm512_mask_loadu_epi16((__m512i)pad, (__mmask32)avx512_tail_mask_64(n), p);
}
INLINE void vi16_store_partial(int16_t *p, vi16 x, int n) {
    _mm512_mask_storeu_epi16(p, (__mmask32)avx512_tail_mask_64(n), (__m512i)x);
}

INLINE int vi32_partition(int32_t *low, int32_t *high, vi32 x, vm32 m) {
    __mmask16 lanes = _mm512_movepi32_mask((__m512i)m);
    int count = __builtin_popcount(lanes);
    __m512i others = _mm512_maskz_compress_epi32(_knot_mask16(lanes), (__m512i)x);
    _mm512_storeu_si512(low, _mm512_maskz_compress_epi32(lanes, (__m512i)x));
    _mm512_mask_storeu_epi32(high - 16 + count, (__mmask16)(0xffffu >> count), others);
    return count;
}
INLINE int vi64_partition(int64_t *low, int64_t *high, vi64 x, vm64 m) {
    __mmask8 lanes = _mm512_movepi64_mask((__m512i)m);
    __m512i chosen = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(simd_chosen + lanes)));
    __m512i moved = _mm512_permutexvar_epi64(chosen, (__m512i)x);
    _mm512_storeu_si512(low, moved);
    _mm512_storeu_si512(high - 8, moved);
    return __builtin_popcount(lanes);
}
