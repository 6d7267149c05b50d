/* Conversions of AVX and AVX2 from floats to integers, and of integers of 64 bits to floats, which C has only with
 * undefined results or an element at a time. The instructions turn an element that does not fit, or NaN, into the
 * lowest integer; all bits of those that are too large are then inverted. NaN is replaced by 0 before the conversion,
 * because Clang would narrow a mask of its result to the size that the result is stored in. */
#pragma once

#include "simd/portable.h"

#define SIMD_OWN_CONVERSIONS
#define SIMD_OWN_FROM_INT64

INLINE vi32 vf32_to_vi32(vf32 x) {
    vi32 whole = (vi32)_mm256_cvttps_epi32(_mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q)));
    return whole ^ vf32_ge(x, vf32_set(0x1p31f));
}
/* Elements from 2^31 on are converted less 2^31. */
INLINE vu32 vf32_to_vu32(vf32 x) {
    x = _mm256_max_ps(x, _mm256_setzero_ps());
    vi32 low = (vi32)_mm256_cvttps_epi32(x), high = (vi32)_mm256_cvttps_epi32(x - vf32_set(0x1p31f));
    return (vu32)(low | (high & low >> 31) | vf32_ge(x, vf32_set(0x1p32f)));
}

INLINE __m128i avx_to_int32(vf64 x) {
    x = _mm256_and_pd(x, _mm256_cmp_pd(x, x, _CMP_ORD_Q));
    return _mm256_cvttpd_epi32(_mm256_min_pd(x, _mm256_set1_pd(INT32_MAX)));
}
INLINE __m128i avx_to_uint32(vf64 x) {
    x = _mm256_min_pd(_mm256_max_pd(x, _mm256_setzero_pd()), _mm256_set1_pd(UINT32_MAX));
    __m128i whole = _mm256_cvttpd_epi32(_mm256_floor_pd(x) - _mm256_set1_pd(0x1p31));
    return _mm_xor_si128(whole, _mm_set1_epi32(INT32_MIN));
}

/* There are no instructions for 64-bit integers. For numbers below 2^51, adding SIMD_ROUND_MAGIC_64 leaves the integer
 * in the low bits of the sum. */
INLINE vi64 avx_small_to_int64(vf64 x) {
    const vf64 magic = vf64_set(SIMD_ROUND_MAGIC_64);
    return vf64_bits(vf64_trunc(x) + magic) - vf64_bits(magic);
}
RARE vi64 avx_large_to_int64(vf64 x) {
    vi64 whole;
    for (int lane = 0; lane < VF64_LANES; lane++) {
        whole[lane] = _mm_cvttsd_si64(_mm_set_sd(x[lane]));
    }
    return (whole ^ vf64_ge(x, vf64_set(0x1p63))) & vf64_eq(x, x);
}
INLINE vi64 avx_to_int64(vf64 x) {
    return vm64_all(vf64_lt(vf64_abs(x), vf64_set(0x1p51))) ? avx_small_to_int64(x) : avx_large_to_int64(x);
}
RARE vi64 avx_large_to_uint64(vf64 x) {
    vm64 is_high = vf64_ge(x, vf64_set(0x1p63));
    vi64 whole = avx_large_to_int64(x - vf64_select(is_high, vf64_set(0x1p63), vf64_set(0)));
    return whole | (is_high & INT64_MIN) | vf64_ge(x, vf64_set(0x1p64));
}
INLINE vi64 avx_to_uint64(vf64 x) {
    x = _mm256_max_pd(x, _mm256_setzero_pd());
    return vm64_all(vf64_lt(x, vf64_set(0x1p51))) ? avx_small_to_int64(x) : avx_large_to_uint64(x);
}
RARE vf64 avx_large_to_float64(vi64 x) { return __builtin_convertvector(x, vf64); }
INLINE vf64 avx_to_float64(vi64 x) {
    vu64 above = (vu64)(x + (1LL << 51)) >> 52;
    return vm64_any((vm64)above != 0) ? avx_large_to_float64(x) : vi64_small_to_vf64(x);
}

#define AVX_LOW(x) __builtin_shufflevector(x, x, 0, 1, 2, 3)
#define AVX_HIGH(x) __builtin_shufflevector(x, x, 4, 5, 6, 7)
#define AVX_WHOLE(function, x) _mm256_set_m128i(function(AVX_HIGH(x)), function(AVX_LOW(x)))
#define AVX_WIDE(function, x) \
    __builtin_shufflevector(function(AVX_LOW(x)), function(AVX_HIGH(x)), 0, 1, 2, 3, 4, 5, 6, 7)
INLINE vi32 wf64_to_vi32(wf64 x) { return (vi32)AVX_WHOLE(avx_to_int32, x); }
INLINE vu32 wf64_to_vu32(wf64 x) { return (vu32)AVX_WHOLE(avx_to_uint32, x); }
INLINE wi64 wf64_to_wi64(wf64 x) { return AVX_WIDE(avx_to_int64, x); }
INLINE wu64 wf64_to_wu64(wf64 x) { return (wu64)AVX_WIDE(avx_to_uint64, x); }
INLINE wf64 wi64_to_wf64(wi64 x) { return AVX_WIDE(avx_to_float64, x); }
/* Rounds once: of numbers below 2^51, the double is exact. */
INLINE vf32 wi64_to_vf32(wi64 x) {
    wi64 above = (wi64)((wu64)(x + (1LL << 51)) >> 52);
    if (vm64_any((AVX_LOW(above) | AVX_HIGH(above)) != 0)) {
        return __builtin_convertvector(x, vf32);
    }
    return __builtin_convertvector(wi64_to_wf64(x), vf32);
}
