/* WebAssembly with relaxed SIMD: madd may round once or twice; each engine does what is faster on its machine. */
#define SIMD_NAME "relaxed_simd"
#define SIMD_FEATURES (LW_CPU_SIMD128 | LW_CPU_RELAXED_SIMD)
#define VF32_LANES 4
#define SIMD_OWN_FMA
/* Bit-reproducible kernels must not use FMA, so relaxed SIMD would not make them faster, nor those that do not compute
 * in floats. This library omits them: their entries in its kernel table are NULL, and the host uses the kernels of the
 * SIMD128 library (native/targets.py). `0 ? (kernel)` avoids warnings about unused functions. */
#define SIMD_REPRODUCIBLE(kernel) (0 ? (kernel) : NULL)
#include "simd/simd128_common.h"

INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return (vf32)wasm_f32x4_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z); }
INLINE vf64 vf64_fma(vf64 x, vf64 y, vf64 z) { return (vf64)wasm_f64x2_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z); }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return portable_fma_strict(x, y, z); }
INLINE vf64 vf64_fma_strict(vf64 x, vf64 y, vf64 z) { return portable_fma_strict_64(x, y, z); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) { return x + y; }
INLINE vf64 vf64_add_on_fma_unit(vf64 x, vf64 y) { return x + y; }
