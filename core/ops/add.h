/* int32 wraps; bool addition is logical or. */
#pragma once

#include "simd/simd.h"

INLINE vf32 op_add_float32(vf32 x1, vf32 x2) { return x1 + x2; }
INLINE vi32 op_add_int32(vi32 x1, vi32 x2) { return x1 + x2; }
INLINE vm32 op_add_bool(vm32 x1, vm32 x2) { return vm32_or(x1, x2); }
