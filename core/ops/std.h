/* The standard deviation: the square root of the variance (var.h), in double, which holds the square of every float32.
 * parameters: correction. */
#pragma once

#include "ops/var.h"

INLINE void std_finish_one(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    element value = (element)squares_root(total, var_degrees(count, parameters));
    __builtin_memcpy(out, &value, sizeof value);
}
FINISH(std)

static const reducer std_reducer = {1,          ELEMENT_SIZE,     var_block, var_columns, moments_join,
                                    std_finish, REDUCE_UNDECIDED, NULL,      NULL,        NULL};
REDUCTION_KERNEL(std)
