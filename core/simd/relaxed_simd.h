/* WebAssembly with relaxed SIMD: madd rounds once or twice, as the engine finds fast. */
#define SIMD_NAME "relaxed_simd"
#define SIMD_FEATURES (LW_CPU_SIMD128 | LW_CPU_RELAXED_SIMD)
#include "simd/simd128_common.h"

LANE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) {
    return (vf32)wasm_f32x4_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z);
}
