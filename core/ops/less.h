/* False if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(less, lt, vm32_and(vm32_not(x1), x2))
