/* The square root, correctly rounded. */
#pragma once

#include "element.h"

INLINE vec op_sqrt(vec x) { return v_sqrt(x); }
