/* x - trunc(x), which is exact. The fraction of infinity is inf - inf, which is NaN. */
#pragma once

#include "element.h"

INLINE vec op_frac(vec x) { return x - v_trunc(x); }
