/* The sum of absolute values. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(norm_l1, 1, vec, element, v_set(0), v_abs(x), a + b, total, 1)
