/* False if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(equal, eq, vm32_not(vm32_xor(x1, x2)))
