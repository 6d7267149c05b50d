/* Conversions of AVX-512 that C has only with undefined results: from floats to integers, and rounded to odd. The
 * instructions turn an element that does not fit into INT32_MIN, INT64_MIN, or the largest unsigned integer. max with 0
 * as its second operand turns NaN into 0. */
#pragma once

#include "simd/types.h"

#define SIMD_OWN_CONVERSIONS
#define SIMD_OWN_ODD

INLINE vi32 vf32_to_vi32(vf32 x) {
    __mmask16 over = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
    __m512i whole = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
    return (vi32)_mm512_mask_mov_epi32(whole, over, _mm512_set1_epi32(INT32_MAX));
}
INLINE vu32 vf32_to_vu32(vf32 x) { return (vu32)_mm512_cvttps_epu32(_mm512_max_ps(x, _mm512_setzero_ps())); }

INLINE __m256i avx512_to_int32(vf64 x) { /* INT32_MAX is a double */
    vf64 bounded = _mm512_min_pd(_mm512_set1_pd(INT32_MAX), x);
    return _mm512_maskz_cvttpd_epi32(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), bounded);
}
INLINE __m256i avx512_to_uint32(vf64 x) { return _mm512_cvttpd_epu32(_mm512_max_pd(x, _mm512_setzero_pd())); }
INLINE vi64 avx512_to_int64(vf64 x) {
    __mmask8 over = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p63), _CMP_GE_OQ);
    __m512i whole = _mm512_maskz_cvttpd_epi64(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x);
    return (vi64)_mm512_mask_mov_epi64(whole, over, _mm512_set1_epi64(INT64_MAX));
}
INLINE vi64 avx512_to_uint64(vf64 x) { return (vi64)_mm512_cvttpd_epu64(_mm512_max_pd(x, _mm512_setzero_pd())); }
/* Truncates, and sets the last bit of what is not exact. */
INLINE __m256i avx512_to_odd(vf64 x) {
    __m256 nearer_zero = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __mmask8 inexact = _mm512_cmp_pd_mask(_mm512_cvtps_pd(nearer_zero), x, _CMP_NEQ_OQ);
    __m256i bits = _mm256_castps_si256(nearer_zero);
    return _mm256_mask_or_epi32(bits, inexact, bits, _mm256_set1_epi32(1));
}

#define AVX512_LOW(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7)
#define AVX512_HIGH(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)
#define AVX512_WHOLE(function, x) \
    _mm512_inserti64x4(_mm512_castsi256_si512(function(AVX512_LOW(x))), function(AVX512_HIGH(x)), 1)
#define AVX512_WIDE(function, x)                                                                                     \
    __builtin_shufflevector(function(AVX512_LOW(x)), function(AVX512_HIGH(x)), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
                            12, 13, 14, 15)
INLINE vi32 wf64_to_vi32(wf64 x) { return (vi32)AVX512_WHOLE(avx512_to_int32, x); }
INLINE vu32 wf64_to_vu32(wf64 x) { return (vu32)AVX512_WHOLE(avx512_to_uint32, x); }
INLINE wi64 wf64_to_wi64(wf64 x) { return AVX512_WIDE(avx512_to_int64, x); }
INLINE wu64 wf64_to_wu64(wf64 x) { return (wu64)AVX512_WIDE(avx512_to_uint64, x); }
INLINE vf32 wf64_to_vf32_odd(wf64 x) { return (vf32)AVX512_WHOLE(avx512_to_odd, x); }
