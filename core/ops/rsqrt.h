/* 1 / sqrt(x); root and quotient are both correctly rounded. Error < 1.5 ulp. */
#pragma once

#include "element.h"

INLINE vec op_rsqrt(vec x) { return v_set(1) / v_sqrt(x); }
