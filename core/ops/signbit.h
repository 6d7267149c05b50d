#pragma once

#include "element.h"

INLINE vmask op_signbit(vec x) { return b_lt(v_bits(x), b_set(0)); }
