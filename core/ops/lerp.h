/* x1 + weight * (x2 - x1) or, for weight >= 1/2, x2 - (1 - weight) * (x2 - x1), so that weights 0 and 1 give x1 and x2
 * exactly unless x2 - x1 overflows. */
#pragma once

#include "element.h"

INLINE vec op_lerp(vec x1, vec x2, vec weight) {
    const vec one = v_set(1);
    vec difference = x2 - x1;
    return v_select(v_lt(weight, v_set(0.5f)), x1 + weight * difference, x2 - (one - weight) * difference);
}
