/* Integers are whole already. */
#pragma once

#include "element.h"

INLINE vec op_trunc(vec x) { return v_trunc(x); }
