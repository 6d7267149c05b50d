/* AVX2 with FMA and F16C (Haswell, Zen and later). */
#define SIMD_NAME "avx2"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX | LW_CPU_AVX2 | LW_CPU_FMA | LW_CPU_F16C)
#define SIMD_OWN_FMA
#define SIMD_FUSED 1
#define SIMD_OWN_LOOKUP
#define SIMD_OWN_FLOAT16
#define SIMD_PARTITION 1
#include "simd/avx_common.h"

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
INLINE vf32 vf32_from_float16(nu16 x) { return _mm256_cvtph_ps((__m128i)x); }
INLINE nu16 vf32_to_float16(vf32 x) { return (nu16)_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }

/* Element m of avx2_chosen has, in its bytes, the numbers of the bits that are set in m, from the lowest on. */
#define AVX2_CHOSEN_BIT(m, bit) \
    ((uint64_t)((m) >> (bit) & 1) * (bit) << 8 * __builtin_popcount((m) & ((1 << (bit)) - 1)))
#define AVX2_CHOSEN(m)                                                                              \
    AVX2_CHOSEN_BIT(m, 1) | AVX2_CHOSEN_BIT(m, 2) | AVX2_CHOSEN_BIT(m, 3) | AVX2_CHOSEN_BIT(m, 4) | \
        AVX2_CHOSEN_BIT(m, 5) | AVX2_CHOSEN_BIT(m, 6) | AVX2_CHOSEN_BIT(m, 7)
#define AVX2_CHOSEN_4(m) AVX2_CHOSEN(m), AVX2_CHOSEN((m) + 1), AVX2_CHOSEN((m) + 2), AVX2_CHOSEN((m) + 3)
#define AVX2_CHOSEN_16(m) AVX2_CHOSEN_4(m), AVX2_CHOSEN_4((m) + 4), AVX2_CHOSEN_4((m) + 8), AVX2_CHOSEN_4((m) + 12)
#define AVX2_CHOSEN_64(m) \
    AVX2_CHOSEN_16(m), AVX2_CHOSEN_16((m) + 16), AVX2_CHOSEN_16((m) + 32), AVX2_CHOSEN_16((m) + 48)
static const uint64_t avx2_chosen[256] = {AVX2_CHOSEN_64(0), AVX2_CHOSEN_64(64), AVX2_CHOSEN_64(128),
                                          AVX2_CHOSEN_64(192)};
/* Moves the lanes of 32 bits that are set in m to the front. */
INLINE __m256i avx2_front(__m256i x, int m) {
    return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(avx2_chosen + m))));
}
INLINE int vu32_partition(uint32_t *yes, uint32_t *no, vu32 x, vm32 m) {
    int lanes = _mm256_movemask_ps((__m256)m);
    _mm256_storeu_si256((__m256i *)yes, avx2_front((__m256i)x, lanes));
    _mm256_storeu_si256((__m256i *)no, avx2_front((__m256i)x, lanes ^ 255));
    return __builtin_popcount((unsigned)lanes);
}
INLINE int vu64_partition(uint64_t *yes, uint64_t *no, vu64 x, vm64 m) {
    return vu32_partition((uint32_t *)yes, (uint32_t *)no, (vu32)x, (vm32)m) / 2;
}
