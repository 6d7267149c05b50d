#pragma once

#include "element.h"

INLINE vec op_bitwise_xor(vec x1, vec x2) { return v_xor(x1, x2); }
