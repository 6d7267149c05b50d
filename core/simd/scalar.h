/* Plain C with one lane, the fallback on every machine. Other instruction sets define the same primitives. */
#define SIMD_NAME "scalar"
#define SIMD_FEATURES 0
#define VF32_LANES 1
#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return (vf32){__builtin_sqrtf(x[0])}; } /* one instruction with -fno-math-errno */
INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return x * y + z; }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return portable_fma_strict(x, y, z); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) { return x + y; }
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return portable_minimum(a, b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return portable_maximum(a, b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return portable_at_least(x, low); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return portable_at_most(x, high); }
INLINE vf32 vf32_floor(vf32 x) { return portable_floor(x); }
INLINE vf32 vf32_ceil(vf32 x) { return portable_ceil(x); }
INLINE vf32 vf32_trunc(vf32 x) { return portable_trunc(x); }
INLINE vf32 vf32_round(vf32 x) { return portable_round(x); }
INLINE vf32 vf32_scale(vf32 x, vf32 k_magic) { return portable_scale(x, k_magic); }
INLINE vf32 vf32_scale_normal(vf32 x, vf32 k_magic) { return portable_scale_normal(x, k_magic); }
INLINE vf32 vf32_power_of_two(vf32 k_magic) { return portable_power_of_two(k_magic); }
INLINE int vm32_any(vm32 m) { return m[0] != 0; }
INLINE int vm32_all(vm32 m) { return m[0] != 0; }
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) { return portable_lookup(table, i); }
INLINE vf32 vf32_from_float16(vu16 x) { return portable_from_float16(__builtin_convertvector(x, vi32)); }
INLINE vu16 vf32_to_float16(vf32 x) { return __builtin_convertvector(portable_to_float16(x), vu16); }
INLINE vf32 vf32_load_partial(const float *p, int n, vf32 pad) { return portable_vf32_load_partial(p, n, pad); }
INLINE vi32 vi32_load_partial(const int32_t *p, int n, vi32 pad) { return portable_vi32_load_partial(p, n, pad); }
INLINE void vf32_store_partial(float *p, vf32 x, int n) { portable_vf32_store_partial(p, x, n); }
INLINE void vi32_store_partial(int32_t *p, vi32 x, int n) { portable_vi32_store_partial(p, x, n); }
