/* If min > max, the result is max. If any operand is NaN, the result is NaN. */
#pragma once

#include "element.h"

INLINE vec op_clip(vec x, vec min, vec max) { return v_minimum(v_maximum(x, min), max); }
