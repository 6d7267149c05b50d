/* Integers wrap; bool multiplication is logical and. */
#pragma once

#include "element.h"

#ifdef LW_ELEMENT_BOOL
INLINE vec op_multiply(vec x1, vec x2) { return v_and(x1, x2); }
#else
INLINE vec op_multiply(vec x1, vec x2) { return x1 * x2; }
#endif
