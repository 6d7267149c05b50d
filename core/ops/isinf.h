/* Whether |x| exceeds the largest finite number. float16 is tested as float32, which keeps its infinities. */
#pragma once

#include "simd/simd.h"

#define FLOAT32_MAX 0x1.fffffep127f
#define FLOAT64_MAX 0x1.fffffffffffffp1023

INLINE vm32 op_isinf_float32(vf32 x) { return vf32_gt(vf32_abs(x), vf32_set(FLOAT32_MAX)); }
INLINE vm32 op_isinf_float16(vf32 x) { return op_isinf_float32(x); }
INLINE vm64 op_isinf_float64(vf64 x) {
    const vf64 largest = vf64_set(FLOAT64_MAX);
    return vm64_or(vf64_gt(x, largest), vf64_lt(x, -largest));
}
