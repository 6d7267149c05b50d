/* x1 * x2 + x3, rounded only once, also on instruction sets without FMA. */
#pragma once

#include "element.h"

INLINE vec op_fma(vec x1, vec x2, vec x3) { return v_fma_strict(x1, x2, x3); }
