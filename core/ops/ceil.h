/* Integers are whole already. */
#pragma once

#include "element.h"

INLINE vec op_ceil(vec x) { return v_ceil(x); }
