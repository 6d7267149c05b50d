/* The SIMD vocabulary for nvcc: each thread is one lane, vf32 is float, and a mask is bool. This header defines what
 * expressions in core/ops use; it has no lane shuffles, partial loads or partial stores. Compiled with --fmad=false, so
 * that only vf32_fma and vf32_fma_strict fuse. Sums of signed integers wrap, but nvcc assumes that they do not where
 * they are compared: what may overflow and is compared has to be unsigned. */
#pragma once

#include <cuda_fp16.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD_FUSED 1
#define SIMD_NAME "cuda"
#define SIMD_FEATURES LW_CPU_CUDA
#define INLINE static __device__ __forceinline__
#define RARE static __device__ __noinline__
#define VF32_LANES 1
#define VF64_LANES 1
#define SIMD_SCALE 0
#define SIMD_TABLES 0
#define SIMD_LOOKUP 0

typedef float vf32;
typedef int32_t vi32;
typedef uint32_t vu32;
typedef bool vm32;
typedef double vf64;
typedef int64_t vi64;
typedef uint64_t vu64;
typedef bool vm64;
typedef double wf64;
typedef int64_t wi64;
typedef uint64_t wu64;
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
DEFINE_LANES(vu64, uint64_t)
DEFINE_LANES(wf64, double)
DEFINE_LANES(wi64, int64_t)
DEFINE_LANES(wu64, uint64_t)

#define DEFINE_MASKS(name, integers, integer)                    \
    INLINE bool name##_set(int64_t x) { return x != 0; }         \
    INLINE bool name##_and(bool a, bool b) { return a & b; }     \
    INLINE bool name##_or(bool a, bool b) { return a | b; }      \
    INLINE bool name##_xor(bool a, bool b) { return a ^ b; }     \
    INLINE bool name##_not(bool a) { return !a; }                \
    INLINE bool name##_eq(bool a, bool b) { return a == b; }     \
    INLINE bool name##_ne(bool a, bool b) { return a != b; }     \
    INLINE bool name##_lt(bool a, bool b) { return a < b; }      \
    INLINE bool name##_le(bool a, bool b) { return a <= b; }     \
    INLINE bool name##_gt(bool a, bool b) { return a > b; }      \
    INLINE bool name##_ge(bool a, bool b) { return a >= b; }     \
    INLINE bool name##_minimum(bool a, bool b) { return a & b; } \
    INLINE bool name##_maximum(bool a, bool b) { return a | b; } \
    INLINE bool name##_any(bool m) { return m; }                 \
    INLINE bool name##_all(bool m) { return m; }                 \
    INLINE integer name##_to_##integers(bool m) { return m; }

DEFINE_MASKS(vm32, vi32, int32_t)
DEFINE_MASKS(vm64, vi64, int64_t)
INLINE bool wm64_to_vm32(bool m) { return m; }

INLINE int32_t vf32_bits(float x) { return __float_as_int(x); }
INLINE float vf32_from_bits(int32_t x) { return __int_as_float(x); }
INLINE uint32_t vi32_to_vu32(int32_t x) { return (uint32_t)x; }
INLINE int32_t vu32_to_vi32(uint32_t x) { return (int32_t)x; }
INLINE uint32_t vu32_lookup(const uint32_t *table, int32_t i) { return table[i]; }
INLINE float vf32_lookup_16(const float *table, int32_t i) { return table[i & 15]; }
INLINE float vf32_lookup_32(const float *table, int32_t i) { return table[i & 31]; }
INLINE uint32_t vu32_mul_high(uint32_t a, uint32_t b) { return __umulhi(a, b); }

#define DEFINE_INTEGERS(name, element, word)                                               \
    INLINE element name##_and(element a, element b) { return a & b; }                      \
    INLINE element name##_or(element a, element b) { return a | b; }                       \
    INLINE element name##_xor(element a, element b) { return a ^ b; }                      \
    INLINE element name##_not(element a) { return ~a; }                                    \
    INLINE element name##_shift_left(element x, int n) { return (element)((word)x << n); } \
    INLINE element name##_shift_right(element x, int n) { return x >> n; }                 \
    INLINE element name##_shift_left_each(element x, element n) {                          \
        return (word)n < 8 * sizeof x ? (element)((word)x << n) : 0;                       \
    }                                                                                      \
    INLINE element name##_shift_right_each(element x, element n) {                         \
        return (word)n < 8 * sizeof x ? x >> n : x >> (8 * sizeof x - 1) >> 1;             \
    }                                                                                      \
    INLINE element name##_minimum(element a, element b) { return a < b ? a : b; }          \
    INLINE element name##_maximum(element a, element b) { return a > b ? a : b; }          \
    INLINE element name##_quotient(element x, element divisor) { return x / divisor; }

DEFINE_INTEGERS(vi32, int32_t, uint32_t)
DEFINE_INTEGERS(vu32, uint32_t, uint32_t)
DEFINE_INTEGERS(vi64, int64_t, uint64_t)
DEFINE_INTEGERS(vu64, uint64_t, uint64_t)

#define DEFINE_BITS(name, element, integer)                      \
    INLINE integer name##_bits(element x) { return (integer)x; } \
    INLINE element name##_from_bits(integer x) { return (element)x; }

DEFINE_BITS(vi32, int32_t, int32_t)
DEFINE_BITS(vu32, uint32_t, int32_t)
DEFINE_BITS(vi64, int64_t, int64_t)
DEFINE_BITS(vu64, uint64_t, int64_t)

INLINE int32_t vi32_abs(int32_t x) { return x < 0 ? (int32_t)(0 - (uint32_t)x) : x; }
INLINE uint32_t vu32_abs(uint32_t x) { return x; }
INLINE int64_t vi64_abs(int64_t x) { return x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
INLINE uint64_t vu64_abs(uint64_t x) { return x; }

INLINE float vf32_abs(float x) { return fabsf(x); }
INLINE float vf32_copysign(float x, float s) { return copysignf(x, s); }
INLINE bool vf32_isnan(float x) { return x != x; }
INLINE double vf64_abs(double x) { return fabs(x); }
INLINE bool vf64_isnan(double x) { return x != x; }
INLINE int64_t vf64_bits(double x) { return __double_as_longlong(x); }
INLINE double vf64_from_bits(int64_t x) { return __longlong_as_double(x); }
INLINE double vf64_copysign(double x, double s) { return copysign(x, s); }
INLINE double vf64_at_least(double x, double low) { return low > x ? low : x; }
INLINE double vf64_at_most(double x, double high) { return high < x ? high : x; }
INLINE double vf64_fma(double x, double y, double z) { return __fma_rn(x, y, z); }
INLINE double vf64_sqrt(double x) { return __dsqrt_rn(x); }
INLINE double vf64_fma_strict(double x, double y, double z) { return __fma_rn(x, y, z); }
INLINE double vf64_floor(double x) { return floor(x); }
INLINE double vf64_ceil(double x) { return ceil(x); }
INLINE double vf64_trunc(double x) { return trunc(x); }
INLINE double vf64_round(double x) { return rint(x); }
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

/* minimum and maximum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below +0. fmin and fmax do neither: they
 * return the other operand instead of NaN, and do not order zeros. */
#define DEFINE_EXTREME(name, element, bits, from_bits, sign_of, is_nearer)          \
    INLINE element name(element a, element b) {                                     \
        if (a != a || b != b) {                                                     \
            return a + b;                                                           \
        }                                                                           \
        return a == b ? from_bits(bits(a) sign_of bits(b)) : a is_nearer b ? a : b; \
    }

DEFINE_EXTREME(vf32_minimum, float, __float_as_int, __int_as_float, |, <)
DEFINE_EXTREME(vf32_maximum, float, __float_as_int, __int_as_float, &, >)
DEFINE_EXTREME(vf64_minimum, double, __double_as_longlong, __longlong_as_double, |, <)
DEFINE_EXTREME(vf64_maximum, double, __double_as_longlong, __longlong_as_double, &, >)

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
INLINE double vf64_power_of_two(double k_magic) {
    return __longlong_as_double((long long)((unsigned long long)__double_as_longlong(k_magic) << 52));
}
INLINE double vf64_scale(double x, double k_magic) {
    double k = k_magic - SIMD_ROUND_MAGIC_64, half = floor(k * 0.5);
    return x * vf64_power_of_two(half + SIMD_EXPONENT_MAGIC_64) * vf64_power_of_two(k - half + SIMD_EXPONENT_MAGIC_64);
}
INLINE double vf64_scale_normal(double x, double k_magic) {
    return x * vf64_power_of_two(k_magic - SIMD_ROUND_MAGIC_64 + SIMD_EXPONENT_MAGIC_64);
}
INLINE double vi64_to_vf64(int64_t x) { return __ll2double_rn(x); }
INLINE double vi64_small_to_vf64(int64_t x) { return __ll2double_rn(x); }

/* CUDA's conversions to integers saturate, but not all of them turn NaN into 0. */
INLINE float vi32_to_vf32(int32_t x) { return __int2float_rn(x); }
INLINE float vu32_to_vf32(uint32_t x) { return __uint2float_rn(x); }
INLINE double vu32_to_wf64(uint32_t x) { return (double)x; }
INLINE int64_t vu32_to_wi64(uint32_t x) { return x; }
INLINE int64_t wu64_to_wi64(uint64_t x) { return (int64_t)x; }
INLINE uint64_t wi64_to_wu64(int64_t x) { return (uint64_t)x; }
INLINE float wu64_to_vf32(uint64_t x) { return __ull2float_rn(x); }
INLINE double wu64_to_wf64(uint64_t x) { return __ull2double_rn(x); }
INLINE double vi32_to_wf64(int32_t x) { return (double)x; }
INLINE int64_t vi32_to_wi64(int32_t x) { return x; }
INLINE int32_t wi64_to_vi32(int64_t x) { return (int32_t)x; }
INLINE float wi64_to_vf32(int64_t x) { return __ll2float_rn(x); }
INLINE double wi64_to_wf64(int64_t x) { return __ll2double_rn(x); }
INLINE double vf32_to_wf64(float x) { return (double)x; }
INLINE float wf64_to_vf32(double x) { return __double2float_rn(x); }
INLINE int32_t vf32_to_vi32(float x) { return x != x ? 0 : __float2int_rz(x); }
INLINE int64_t vf32_to_wi64(float x) { return x != x ? 0 : __float2ll_rz(x); }
INLINE uint32_t vf32_to_vu32(float x) { return x > 0 ? __float2uint_rz(x) : 0; }
INLINE uint32_t wf64_to_vu32(double x) { return x > 0 ? __double2uint_rz(x) : 0; }
INLINE int32_t wf64_to_vi32(double x) { return x != x ? 0 : __double2int_rz(x); }
INLINE int64_t wf64_to_wi64(double x) { return x != x ? 0 : __double2ll_rz(x); }
INLINE uint64_t wf64_to_wu64(double x) { return x > 0 ? __double2ull_rz(x) : 0; }
INLINE float wf64_to_vf32_odd(double x) {
    float nearer_zero = __double2float_rz(x);
    int inexact = (double)nearer_zero < x || (double)nearer_zero > x;
    return __int_as_float(__float_as_int(nearer_zero) | inexact);
}

INLINE int32_t vi32_gather(const char *p, int64_t step, int32_t index) { return *(const int32_t *)(p + index * step); }
INLINE bool vm32_load(const uint8_t *p) { return *p != 0; }
INLINE void vm32_store(uint8_t *p, bool m) { *p = m; }
INLINE bool vm64_load(const uint8_t *p) { return *p != 0; }
INLINE void vm64_store(uint8_t *p, bool m) { *p = m; }

#include "simd/half.h"

/* Rounds to nearest even, by bits as in memory.h; NaN becomes a quiet one. */
INLINE uint16_t vf32_to_bfloat16(float x) {
    uint32_t bits = __float_as_uint(x);
    return (uint16_t)((x != x ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Floats of 16 bits, as in memory.h. */
INLINE float vf32_load_half(const uint16_t *p, int fraction) {
    return fraction == 10  ? __half2float(__ushort_as_half(*p))
           : fraction == 7 ? __uint_as_float((uint32_t)*p << 16)
                           : portable_from_half(*p, fraction);
}
INLINE void vf32_store_half(uint16_t *p, float x, int fraction) {
    *p = fraction == 10  ? __half_as_ushort(__float2half_rn(x))
         : fraction == 7 ? vf32_to_bfloat16(x)
                         : (uint16_t)portable_to_half(x, fraction);
}

#define DEFINE_NARROW(name, element)                                 \
    INLINE int32_t vi32_load_##name(const element *p) { return *p; } \
    INLINE void vi32_store_##name(element *p, int32_t x) { *p = (element)x; }

DEFINE_NARROW(int8, int8_t)
DEFINE_NARROW(int16, int16_t)
DEFINE_NARROW(uint8, uint8_t)
DEFINE_NARROW(uint16, uint16_t)
