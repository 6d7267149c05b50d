/* AVX without AVX2, FMA or F16C (Sandy Bridge). */
#define SIMD_NAME "avx"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX)
#include "simd/avx_common.h"

INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return x * y + z; }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return portable_fma_strict(x, y, z); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) { return x + y; }
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) { return portable_lookup(table, i); }
INLINE vf32 vf32_from_float16(vu16 x) { return portable_from_float16(__builtin_convertvector(x, vi32)); }
INLINE vu16 vf32_to_float16(vf32 x) { return __builtin_convertvector(portable_to_float16(x), vu16); }
