/* int32 wraps; bool multiplication is logical and. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_multiply_float32(vf32 x1, vf32 x2) { return x1 * x2; }
INLINE vi32 op_multiply_int32(vi32 x1, vi32 x2) { return x1 * x2; }
INLINE vm32 op_multiply_bool(vm32 x1, vm32 x2) { return vm32_and(x1, x2); }
