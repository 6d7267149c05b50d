/* NEON of 64-bit ARM, which has FMA, rounding instructions, and minimum and maximum of IEEE 754-2019. */
#define SIMD_NAME "neon"
#define SIMD_FEATURES LW_CPU_NEON
#define VF32_LANES 4
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
INLINE vf32 vf32_scale(vf32 x, vf32 k_magic) { return portable_scale(x, k_magic); }
INLINE vf32 vf32_scale_normal(vf32 x, vf32 k_magic) { return portable_scale_normal(x, k_magic); }
INLINE vf32 vf32_power_of_two(vf32 k_magic) { return portable_power_of_two(k_magic); }
INLINE int vm32_any(vm32 m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
INLINE int vm32_all(vm32 m) { return vminvq_u32((uint32x4_t)m) != 0; }
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) { return portable_lookup(table, i); }
INLINE vf32 vf32_from_float16(vu16 x) { return vcvt_f32_f16((float16x4_t)x); }
INLINE vu16 vf32_to_float16(vf32 x) { return (vu16)vcvt_f16_f32(x); }
INLINE vf32 vf32_load_partial(const float *p, int n, vf32 pad) { return portable_vf32_load_partial(p, n, pad); }
INLINE vi32 vi32_load_partial(const int32_t *p, int n, vi32 pad) { return portable_vi32_load_partial(p, n, pad); }
INLINE void vf32_store_partial(float *p, vf32 x, int n) { portable_vf32_store_partial(p, x, n); }
INLINE void vi32_store_partial(int32_t *p, vi32 x, int n) { portable_vi32_store_partial(p, x, n); }
