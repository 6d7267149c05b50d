/* Plain C with one lane, the fallback on every machine. Other instruction sets define the same primitives. */
#define SIMD_NAME "scalar"
#define SIMD_FEATURES 0
#define VF32_LANES 1
#include "simd/portable.h"

/* one instruction each with -fno-math-errno */
INLINE vf32 vf32_sqrt(vf32 x) { return (vf32){__builtin_sqrtf(x[0])}; }
INLINE vf64 vf64_sqrt(vf64 x) { return (vf64){__builtin_sqrt(x[0])}; }
