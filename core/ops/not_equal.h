/* True if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(not_equal, ne, vm32_xor(x1, x2))
