/* AVX without AVX2, FMA or F16C (Sandy Bridge). */
#define SIMD_NAME "avx"
#define SIMD_FEATURES (LW_CPU_SSE2 | LW_CPU_AVX)
#include "simd/avx_common.h"
