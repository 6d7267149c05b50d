/* AVX2 with FMA and F16C (Haswell, Zen and later). */
#define SIMD_NAME "avx2"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX | LW_CPU_AVX2 | LW_CPU_FMA | LW_CPU_F16C)
#define SIMD_OWN_FMA
#define SIMD_FUSED 1
#define SIMD_OWN_LOOKUP
#define SIMD_OWN_FLOAT16
#define SIMD_PARTITION 1
#include "simd/avx_common.h"
#include "simd/chosen.h"

INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return _mm256_fmadd_ps(x, y, z); }
INLINE vf64 vf64_fma(vf64 x, vf64 y, vf64 z) { return _mm256_fmadd_pd(x, y, z); }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return _mm256_fmadd_ps(x, y, z); }
INLINE vf64 vf64_fma_strict(vf64 x, vf64 y, vf64 z) { return _mm256_fmadd_pd(x, y, z); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) {
    vf32 one = vf32_set(1);
    __asm__("" : "+x"(one)); /* hides the 1 from the compiler, which would replace the FMA by an addition */
    return _mm256_fmadd_ps(x, one, y);
}
INLINE vf64 vf64_add_on_fma_unit(vf64 x, vf64 y) {
    vf64 one = vf64_set(1);
    __asm__("" : "+x"(one));
    return _mm256_fmadd_pd(x, one, y);
}
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) {
    return (vu32)_mm256_i32gather_epi32((const int *)table, (__m256i)i, 4);
}
/* Clang would compare the halves, which become masks of 16 bits and then of 32, if it saw that they are converted. */
INLINE vf32 vf32_from_float16(nu16 x) {
    vf32 converted = _mm256_cvtph_ps((__m128i)x);
    __asm__("" : "+x"(converted));
    return converted;
}
INLINE nu16 vf32_to_float16(vf32 x) { return (nu16)_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }

INLINE int vi32_partition(int32_t *low, int32_t *high, vi32 x, vm32 m) {
    int lanes = _mm256_movemask_ps((__m256)m);
    __m256i chosen = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(simd_chosen + lanes)));
    __m256i moved = _mm256_permutevar8x32_epi32((__m256i)x, chosen);
    _mm256_storeu_si256((__m256i *)low, moved);
    _mm256_storeu_si256((__m256i *)(high - 8), moved);
    return __builtin_popcount((unsigned)lanes);
}
INLINE int vi64_partition(int64_t *low, int64_t *high, vi64 x, vm64 m) {
    return vi32_partition((int32_t *)low, (int32_t *)high, (vi32)x, (vm32)m) / 2;
}
