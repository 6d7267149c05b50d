/* The product. The product of no elements is 1. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(prod, 1, vec, element, v_set(1), x, a *b, total, 1)
