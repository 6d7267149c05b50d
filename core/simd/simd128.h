/* WebAssembly SIMD128. */
#define SIMD_NAME "simd128"
#define SIMD_FEATURES LW_CPU_SIMD128
#define VF32_LANES 4
#include "simd/simd128_common.h"
