/* WebAssembly SIMD128. */
#define SIMD_NAME "simd128"
#define SIMD_FEATURES LW_CPU_SIMD128
#define VF32_LANES 4
#include "simd/simd128_common.h"

INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return x * y + z; }
