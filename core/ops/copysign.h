#pragma once

#include "element.h"

INLINE vec op_copysign(vec x1, vec x2) { return v_copysign(x1, x2); }
