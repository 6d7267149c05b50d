/* The sum. The identity of floats is -0: x + -0 is x for every x, also -0. Of nothing it is 0. */
#pragma once

#include "reduction.h"

REDUCTION(sum, float32, float32, vf32_set(-0.0f), x, a + b, count ? total : 0)
REDUCTION(sum, int32, int32, vi32_set(0), x, a + b, total)
