/* Integers are whole already. */
#pragma once

#include "element.h"

INLINE vec op_floor(vec x) { return v_floor(x); }
