/* False if an operand is NaN. float16 is compared as float32, which holds it exactly. */
#pragma once

#include "simd/simd.h"

INLINE vm32 op_equal_bool(vm32 x1, vm32 x2) { return vm32_not(vm32_xor(x1, x2)); }
INLINE vm32 op_equal_int32(vi32 x1, vi32 x2) { return vi32_eq(x1, x2); }
INLINE vm64 op_equal_int64(vi64 x1, vi64 x2) { return vi64_eq(x1, x2); }
INLINE vm32 op_equal_float16(vf32 x1, vf32 x2) { return vf32_eq(x1, x2); }
INLINE vm32 op_equal_float32(vf32 x1, vf32 x2) { return vf32_eq(x1, x2); }
INLINE vm64 op_equal_float64(vf64 x1, vf64 x2) { return vf64_eq(x1, x2); }
