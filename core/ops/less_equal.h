/* False if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(less_equal, le, vm32_or(vm32_not(x1), x2))
