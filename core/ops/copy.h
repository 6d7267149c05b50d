/* Copies elements as bits, whatever the dtype. Elements of 8 and 16 bits are in 32-bit lanes. */
#pragma once

#include "element.h"

INLINE vec op_copy(vec x) { return x; }
