/* The sum. The identity of float addition is -0, because x + -0 is x even for -0. The sum of no elements is 0. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(sum, 1, vec, element, v_set(-(element)0), x, a + b, count ? total : 0, 1)
