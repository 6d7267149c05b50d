#pragma once

#include "element.h"

INLINE vec op_bitwise_or(vec x1, vec x2) { return v_or(x1, x2); }
