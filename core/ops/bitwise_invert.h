#pragma once

#include "element.h"

INLINE vec op_bitwise_invert(vec x) { return v_not(x); }
