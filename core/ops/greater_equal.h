/* False if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(greater_equal, ge, vm32_or(x1, vm32_not(x2)))
