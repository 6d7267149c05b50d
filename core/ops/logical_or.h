/* Whether at least one operand is nonzero. NaN is nonzero. */
#pragma once

#include "simd/simd.h"

INLINE vm32 op_logical_or_bool(vm32 x1, vm32 x2) { return vm32_or(x1, x2); }
INLINE vm32 op_logical_or_int32(vi32 x1, vi32 x2) {
    return vm32_or(vi32_ne(x1, vi32_set(0)), vi32_ne(x2, vi32_set(0)));
}
INLINE vm32 op_logical_or_float32(vf32 x1, vf32 x2) {
    return vm32_or(vf32_ne(x1, vf32_set(0)), vf32_ne(x2, vf32_set(0)));
}
