/* Copies elements as bits, whatever the dtype. Elements of 8 and 16 bits are in 32-bit lanes. */
#pragma once

#include "simd/simd.h"

INLINE vi32 op_copy_bits8(vi32 x) { return x; }
INLINE vi32 op_copy_bits16(vi32 x) { return x; }
INLINE vi32 op_copy_bits32(vi32 x) { return x; }
INLINE vi64 op_copy_bits64(vi64 x) { return x; }
