/* WebAssembly SIMD128. */
#include "simd/simd128_common.h"

LANE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return x * y + z; }
