/* Selects elements as bits, whatever the dtype. Elements of 8 and 16 bits are in 32-bit lanes. */
#pragma once

#include "element.h"

INLINE vec op_where(vmask condition, vec x1, vec x2) { return v_select(condition, x1, x2); }
