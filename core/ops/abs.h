/* The lowest integer stays as it is. */
#pragma once

#include "element.h"

INLINE vec op_abs(vec x) { return v_abs(x); }
