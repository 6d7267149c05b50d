/* NEON of 64-bit ARM, which has FMA, rounding instructions, and minimum and maximum of IEEE 754-2019. */
#define SIMD_NAME "neon"
#define SIMD_FEATURES LW_CPU_NEON
#define VF32_LANES 4
#define SIMD_OWN_FMA
#define SIMD_FUSED 1
#define SIMD_OWN_MINIMUM
#define SIMD_OWN_BOUNDS
#define SIMD_OWN_ROUNDING
#define SIMD_OWN_ANY
#define SIMD_OWN_FLOAT16
#include <arm_neon.h>

#include "simd/portable.h"

#define DEFINE_NEON(T, suffix)                                                 \
    INLINE T T##_sqrt(T x) { return vsqrtq_##suffix(x); }                      \
    INLINE T T##_fma(T x, T y, T z) { return vfmaq_##suffix(z, x, y); }        \
    INLINE T T##_fma_strict(T x, T y, T z) { return vfmaq_##suffix(z, x, y); } \
    INLINE T T##_add_on_fma_unit(T x, T y) { return x + y; }                   \
    INLINE T T##_minimum(T a, T b) { return vminq_##suffix(a, b); }            \
    INLINE T T##_maximum(T a, T b) { return vmaxq_##suffix(a, b); }            \
    INLINE T T##_at_least(T x, T low) { return vmaxq_##suffix(x, low); }       \
    INLINE T T##_at_most(T x, T high) { return vminq_##suffix(x, high); }      \
    INLINE T T##_floor(T x) { return vrndmq_##suffix(x); }                     \
    INLINE T T##_ceil(T x) { return vrndpq_##suffix(x); }                      \
    INLINE T T##_trunc(T x) { return vrndq_##suffix(x); }                      \
    INLINE T T##_round(T x) { return vrndnq_##suffix(x); }

DEFINE_NEON(vf32, f32)
DEFINE_NEON(vf64, f64)
INLINE int vm32_any(vm32 m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
INLINE int vm64_any(vm64 m) { return vm32_any((vm32)m); }
INLINE int vm32_all(vm32 m) { return vminvq_u32((uint32x4_t)m) != 0; }
INLINE int vm64_all(vm64 m) { return vm32_all((vm32)m); }
INLINE vf32 vf32_from_float16(nu16 x) { return vcvt_f32_f16((float16x4_t)x); }
INLINE nu16 vf32_to_float16(vf32 x) { return (nu16)vcvt_f16_f32(x); }
