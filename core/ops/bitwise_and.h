#pragma once

#include "element.h"

INLINE vec op_bitwise_and(vec x1, vec x2) { return v_and(x1, x2); }
