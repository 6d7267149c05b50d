/* Beyond the largest finite number. float16 comes as float32, which has its infinities. */
#pragma once

#include "simd/simd.h"

INLINE vm32 op_isinf_float32(vf32 x) { return vf32_gt(vf32_abs(x), vf32_set(0x1.fffffep127f)); }
INLINE vm32 op_isinf_float16(vf32 x) { return op_isinf_float32(x); }
INLINE vm64 op_isinf_float64(vf64 x) {
    const vf64 largest = vf64_set(0x1.fffffffffffffp1023);
    return vm64_or(vf64_gt(x, largest), vf64_lt(x, -largest));
}
