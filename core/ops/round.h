/* Integers are whole already. */
#pragma once

#include "element.h"

INLINE vec op_round(vec x) { return v_round(x); }
