/* Integers wrap; bool addition is logical or. */
#pragma once

#include "element.h"

#ifdef LW_ELEMENT_BOOL
INLINE vec op_add(vec x1, vec x2) { return v_or(x1, x2); }
#else
INLINE vec op_add(vec x1, vec x2) { return x1 + x2; }
#endif
