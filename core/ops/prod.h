/* The product. The product of no elements is 1. */
#pragma once

#include "reduce/reduction.h"

REDUCTION(prod, float32, float32, vf32_set(1), x, a *b, total)
REDUCTION(prod, int32, int32, vi32_set(1), x, a *b, total)
