/* NEON of 64-bit ARM, which has FMA, rounding instructions, and minimum and maximum of IEEE 754-2019. */
#define SIMD_NAME "neon"
#define SIMD_FEATURES LW_CPU_NEON
#define VF32_LANES 4
#define SIMD_OWN_FMA
#define SIMD_OWN_FLOAT16
#include <arm_neon.h>

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return vsqrtq_f32(x); }
INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return vfmaq_f32(z, x, y); }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return vfmaq_f32(z, x, y); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) { return x + y; }
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return vminq_f32(a, b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return vmaxq_f32(a, b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return vmaxq_f32(x, low); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return vminq_f32(x, high); }
INLINE vf32 vf32_floor(vf32 x) { return vrndmq_f32(x); }
INLINE vf32 vf32_ceil(vf32 x) { return vrndpq_f32(x); }
INLINE vf32 vf32_trunc(vf32 x) { return vrndq_f32(x); }
INLINE vf32 vf32_round(vf32 x) { return vrndnq_f32(x); }
INLINE int vm32_any(vm32 m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
INLINE int vm32_all(vm32 m) { return vminvq_u32((uint32x4_t)m) != 0; }
INLINE vf32 vf32_from_float16(vu16 x) { return vcvt_f32_f16((float16x4_t)x); }
INLINE vu16 vf32_to_float16(vf32 x) { return (vu16)vcvt_f16_f32(x); }
