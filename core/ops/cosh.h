/* cosh x = (z + 1/z) / 2, z = e^|x|. Computes (cosh x) / 2 = z/4 + 1/(4z) and doubles it: z overflows before cosh x
 * does, but z/4 is finite up to COSH_OVERFLOW. Error < 1.5 ulp. */
#pragma once

#include "math/exp.h"

#define COSH_OVERFLOW 89.5f /* cosh x and sinh x overflow for |x| >= this */

INLINE vf32 op_cosh(vf32 x) {
    exp_parts parts = exp_reduce(vf32_at_most(vf32_abs(x), vf32_set(COSH_OVERFLOW)), vf32_set(SIMD_EXPONENT_MAGIC));
    vf32 quarter = (exp_expm1(parts.r) + vf32_set(1)) * vf32_power_of_two(parts.k_magic - vf32_set(2));
    vf32 half = quarter + vf32_set(0.0625f) / quarter;
    return half + half;
}
