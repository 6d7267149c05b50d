/* ln x (math/log.h). Error < 1 ulp, denormal arguments included. */
#pragma once

#include "math/log.h"

INLINE vec op_log(vec x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_with_denormals(x);
    vec result = log_natural(parts);
    return normal ? result : log_special(x, result);
}
