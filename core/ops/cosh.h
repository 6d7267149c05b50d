/* cosh x = (z + 1/z) / 2, z = e^|x|. Computes (cosh x) / 2 = z/4 + 1/(4z) and doubles it: z overflows before cosh x
 * does, but z/4 is finite up to COSH_OVERFLOW. Error < 1.5 ulp. */
#pragma once

#include "math/exp.h"

#define COSH_OVERFLOW BY_PRECISION(89.5f, 710.5) /* cosh x and sinh x overflow for |x| >= this */

INLINE vec op_cosh(vec x) {
    exp_parts parts = exp_reduce(v_at_most(v_abs(x), v_set(COSH_OVERFLOW)), v_set(EXPONENT_MAGIC));
    vec quarter = (exp_expm1(parts.r) + v_set(1)) * v_power_of_two(parts.k_magic - v_set(2));
    vec half = quarter + v_set((element)0.0625) / quarter;
    return half + half;
}
