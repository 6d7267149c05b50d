/* The sum of absolute values. */
#ifndef LANEWISE_OPS_NORM_L1_H
#define LANEWISE_OPS_NORM_L1_H

#include "reduction.h"

REDUCTION(norm_l1, float32, float32, vf32_set(0), vf32_abs(x), a + b, total)

#endif
