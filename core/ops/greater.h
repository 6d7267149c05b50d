/* False if an operand is NaN. */
#pragma once

#include "compare.h"

COMPARISON(greater, gt, vm32_and(x1, vm32_not(x2)))
