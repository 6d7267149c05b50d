/* 1 / x, correctly rounded, unlike the processor's reciprocal instructions. */
#pragma once

#include "element.h"

INLINE vec op_reciprocal(vec x) { return v_set(1) / x; }
