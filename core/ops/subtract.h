/* Integers wrap. */
#pragma once

#include "element.h"

INLINE vec op_subtract(vec x1, vec x2) { return x1 - x2; }
