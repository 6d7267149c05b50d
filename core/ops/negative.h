/* The lowest integer stays as it is. */
#pragma once

#include "element.h"

INLINE vec op_negative(vec x) { return -x; }
