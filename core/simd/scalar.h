/* Plain C with one lane, the fallback on every machine. Other instruction sets define the same primitives. */
#define SIMD_NAME "scalar"
#define SIMD_FEATURES 0
#define VF32_LANES 1
#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return (vf32){__builtin_sqrtf(x[0])}; } /* one instruction with -fno-math-errno */
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return portable_minimum(a, b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return portable_maximum(a, b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return portable_at_least(x, low); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return portable_at_most(x, high); }
INLINE vf32 vf32_floor(vf32 x) { return portable_floor(x); }
INLINE vf32 vf32_ceil(vf32 x) { return portable_ceil(x); }
INLINE vf32 vf32_trunc(vf32 x) { return portable_trunc(x); }
INLINE vf32 vf32_round(vf32 x) { return portable_round(x); }
INLINE int vm32_any(vm32 m) { return m[0] != 0; }
INLINE int vm32_all(vm32 m) { return m[0] != 0; }
