/* The SIMD vocabulary for nvcc: each thread is one lane, vf32 is float, and a mask is bool. This header defines what
 * expressions in core/ops use; it has no lane shuffles, partial loads or partial stores. Compiled with --fmad=false, so
 * that only vf32_fma and vf32_fma_strict fuse. Signed overflow wraps in nvcc, as it does with -fwrapv elsewhere. */
#pragma once

#include <cuda_fp16.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD_NAME "cuda"
#define SIMD_FEATURES LW_CPU_CUDA
#define INLINE static __device__ __forceinline__
#define RARE static __device__ __noinline__
#define VF32_LANES 1
#define VF64_LANES 1
#define SIMD_SCALE 0
#define SIMD_TABLES 0

typedef float vf32;
typedef int32_t vi32;
typedef uint32_t vu32;
typedef bool vm32;
typedef double vf64;
typedef int64_t vi64;
typedef bool vm64;
typedef double wf64;
typedef int64_t wi64;
typedef bool wm64;

#define DEFINE_LANES(name, element)                                                        \
    INLINE element name##_set(element x) { return x; }                                     \
    INLINE bool name##_eq(element a, element b) { return a == b; }                         \
    INLINE bool name##_ne(element a, element b) { return a != b; }                         \
    INLINE bool name##_lt(element a, element b) { return a < b; }                          \
    INLINE bool name##_le(element a, element b) { return a <= b; }                         \
    INLINE bool name##_gt(element a, element b) { return a > b; }                          \
    INLINE bool name##_ge(element a, element b) { return a >= b; }                         \
    INLINE element name##_select(bool m, element yes, element no) { return m ? yes : no; } \
    INLINE element name##_load(const element *p) { return *p; }                            \
    INLINE void name##_store(element *p, element x) { *p = x; }

DEFINE_LANES(vf32, float)
DEFINE_LANES(vi32, int32_t)
DEFINE_LANES(vu32, uint32_t)
DEFINE_LANES(vf64, double)
DEFINE_LANES(vi64, int64_t)
DEFINE_LANES(wf64, double)
DEFINE_LANES(wi64, int64_t)

INLINE bool vm32_set(int64_t x) { return x != 0; }
INLINE bool vm32_and(bool a, bool b) { return a & b; }
INLINE bool vm32_or(bool a, bool b) { return a | b; }
INLINE bool vm32_xor(bool a, bool b) { return a ^ b; }
INLINE bool vm32_not(bool a) { return !a; }
INLINE int32_t vm32_to_vi32(bool m) { return m; }
INLINE bool vm32_any(bool m) { return m; }
INLINE bool vm32_all(bool m) { return m; }
INLINE bool vm32_eq(bool a, bool b) { return a == b; }
INLINE bool vm32_ne(bool a, bool b) { return a != b; }
INLINE bool vm32_lt(bool a, bool b) { return a < b; }
INLINE bool vm32_le(bool a, bool b) { return a <= b; }
INLINE bool vm32_gt(bool a, bool b) { return a > b; }
INLINE bool vm32_ge(bool a, bool b) { return a >= b; }
INLINE bool vm32_minimum(bool a, bool b) { return a & b; }
INLINE bool vm32_maximum(bool a, bool b) { return a | b; }
INLINE bool vm64_and(bool a, bool b) { return a & b; }
INLINE bool vm64_or(bool a, bool b) { return a | b; }
INLINE bool vm64_xor(bool a, bool b) { return a ^ b; }
INLINE bool vm64_not(bool a) { return !a; }
INLINE int64_t vm64_to_vi64(bool m) { return m; }
INLINE bool wm64_to_vm32(bool m) { return m; }

INLINE int32_t vf32_bits(float x) { return __float_as_int(x); }
INLINE float vf32_from_bits(int32_t x) { return __int_as_float(x); }
INLINE uint32_t vi32_to_vu32(int32_t x) { return (uint32_t)x; }
INLINE int32_t vu32_to_vi32(uint32_t x) { return (int32_t)x; }
INLINE int32_t vi32_and(int32_t a, int32_t b) { return a & b; }
INLINE int32_t vi32_or(int32_t a, int32_t b) { return a | b; }
INLINE int32_t vi32_xor(int32_t a, int32_t b) { return a ^ b; }
INLINE int32_t vi32_not(int32_t a) { return ~a; }
INLINE int32_t vi32_shift_left(int32_t x, int n) { return (int32_t)((uint32_t)x << n); }
INLINE int32_t vi32_shift_right(int32_t x, int n) { return x >> n; }
INLINE int32_t vi32_shift_left_each(int32_t x, int32_t n) { return (uint32_t)n < 32 ? (int32_t)((uint32_t)x << n) : 0; }
INLINE int32_t vi32_shift_right_each(int32_t x, int32_t n) { return x >> ((uint32_t)n < 32 ? n : 31); }
INLINE uint32_t vu32_shift_right(uint32_t x, int n) { return x >> n; }
INLINE uint32_t vu32_lookup(const uint32_t *table, int32_t i) { return table[i]; }
INLINE float vf32_lookup_16(const float *table, int32_t i) { return table[i & 15]; }
INLINE float vf32_lookup_32(const float *table, int32_t i) { return table[i & 31]; }
INLINE uint32_t vu32_mul_high(uint32_t a, uint32_t b) { return __umulhi(a, b); }
INLINE int32_t vi32_minimum(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE int32_t vi32_maximum(int32_t a, int32_t b) { return a > b ? a : b; }
INLINE int32_t vi32_abs(int32_t x) { return x < 0 ? (int32_t)(0u - (uint32_t)x) : x; }

INLINE float vf32_abs(float x) { return fabsf(x); }
INLINE float vf32_copysign(float x, float s) { return copysignf(x, s); }
INLINE bool vf32_isnan(float x) { return x != x; }
INLINE double vf64_abs(double x) { return fabs(x); }
INLINE bool vf64_isnan(double x) { return x != x; }
INLINE float vf32_sqrt(float x) { return __fsqrt_rn(x); }
INLINE float vf32_fma(float x, float y, float z) { return __fmaf_rn(x, y, z); }
INLINE float vf32_fma_strict(float x, float y, float z) { return __fmaf_rn(x, y, z); }
INLINE float vf32_add_on_fma_unit(float x, float y) { return x + y; }
INLINE float vf32_floor(float x) { return floorf(x); }
INLINE float vf32_ceil(float x) { return ceilf(x); }
INLINE float vf32_trunc(float x) { return truncf(x); }
INLINE float vf32_round(float x) { return rintf(x); }
INLINE double wf64_floor(double x) { return floor(x); }
INLINE float vf32_at_least(float x, float low) { return low > x ? low : x; }
INLINE float vf32_at_most(float x, float high) { return high < x ? high : x; }

/* minimum and maximum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below +0. fminf and fmaxf do neither: they
 * return the other operand instead of NaN, and do not order zeros. */
INLINE float vf32_minimum(float a, float b) {
    if (a != a || b != b) {
        return a + b;
    }
    if (a == b) {
        return __int_as_float(__float_as_int(a) | __float_as_int(b));
    }
    return a < b ? a : b;
}
INLINE float vf32_maximum(float a, float b) {
    if (a != a || b != b) {
        return a + b;
    }
    if (a == b) {
        return __int_as_float(__float_as_int(a) & __float_as_int(b));
    }
    return a > b ? a : b;
}

/* x * 2^(k_magic - SIMD_ROUND_MAGIC), by two factors as in portable_scale. */
INLINE float vf32_scale(float x, float k_magic) {
    int32_t power = (int32_t)(k_magic - SIMD_ROUND_MAGIC), half = power >> 1;
    return x * __int_as_float((half + 127) << 23) * __int_as_float((power - half + 127) << 23);
}
INLINE float vf32_scale_normal(float x, float k_magic) {
    return x * __int_as_float(((int32_t)(k_magic - SIMD_ROUND_MAGIC) + 127) << 23);
}
INLINE float vf32_scale_floor(float x, float k) { return vf32_scale(x, floorf(k) + SIMD_ROUND_MAGIC); }
INLINE float vf32_power_of_two(float k_magic) { return __int_as_float(__float_as_int(k_magic) << 23); }

/* CUDA's conversions to integers saturate, but not all of them turn NaN into 0. */
INLINE float vi32_to_vf32(int32_t x) { return __int2float_rn(x); }
INLINE double vi32_to_wf64(int32_t x) { return (double)x; }
INLINE int64_t vi32_to_wi64(int32_t x) { return x; }
INLINE int32_t wi64_to_vi32(int64_t x) { return (int32_t)x; }
INLINE float wi64_to_vf32(int64_t x) { return __ll2float_rn(x); }
INLINE double wi64_to_wf64(int64_t x) { return __ll2double_rn(x); }
INLINE double vf32_to_wf64(float x) { return (double)x; }
INLINE float wf64_to_vf32(double x) { return __double2float_rn(x); }
INLINE int32_t vf32_to_vi32(float x) { return x != x ? 0 : __float2int_rz(x); }
INLINE int64_t vf32_to_wi64(float x) { return x != x ? 0 : __float2ll_rz(x); }
INLINE int32_t wf64_to_vi32(double x) { return x != x ? 0 : __double2int_rz(x); }
INLINE int64_t wf64_to_wi64(double x) { return x != x ? 0 : __double2ll_rz(x); }
INLINE float wf64_to_vf32_odd(double x) {
    float nearer_zero = __double2float_rz(x);
    int inexact = (double)nearer_zero < x || (double)nearer_zero > x;
    return __int_as_float(__float_as_int(nearer_zero) | inexact);
}

INLINE int32_t vi32_gather(const char *p, int64_t step, int32_t index) { return *(const int32_t *)(p + index * step); }
INLINE float vf32_load_float16(const uint16_t *p) { return __half2float(__ushort_as_half(*p)); }
INLINE void vf32_store_float16(uint16_t *p, float x) { *p = __half_as_ushort(__float2half_rn(x)); }
INLINE bool vm32_load(const uint8_t *p) { return *p != 0; }
INLINE void vm32_store(uint8_t *p, bool m) { *p = m; }
INLINE bool vm64_load(const uint8_t *p) { return *p != 0; }
INLINE void vm64_store(uint8_t *p, bool m) { *p = m; }
INLINE int32_t vi32_load_bits8(const uint8_t *p) { return *p; }
INLINE void vi32_store_bits8(uint8_t *p, int32_t x) { *p = (uint8_t)x; }
INLINE int32_t vi32_load_bits16(const uint16_t *p) { return *p; }
INLINE void vi32_store_bits16(uint16_t *p, int32_t x) { *p = (uint16_t)x; }
