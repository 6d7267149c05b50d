/* The quotient, correctly rounded. */
#pragma once

#include "element.h"

INLINE vec op_divide(vec x1, vec x2) { return x1 / x2; }
