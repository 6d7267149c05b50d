/* Selects elements as bits, whatever the dtype. Elements of 8 and 16 bits are in 32-bit lanes. */
#pragma once

#include "simd/simd.h"

INLINE vi32 op_where_bits8(vm32 condition, vi32 x1, vi32 x2) { return vi32_select(condition, x1, x2); }
INLINE vi32 op_where_bits16(vm32 condition, vi32 x1, vi32 x2) { return vi32_select(condition, x1, x2); }
INLINE vi32 op_where_bits32(vm32 condition, vi32 x1, vi32 x2) { return vi32_select(condition, x1, x2); }
INLINE vi64 op_where_bits64(vm64 condition, vi64 x1, vi64 x2) { return vi64_select(condition, x1, x2); }
