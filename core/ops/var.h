/* The variance: the sum of squared deviations from the mean (moments.h) divided by n - correction, or by 0 where that
 * is negative, as in NumPy. parameters: correction. */
#ifndef LANEWISE_OPS_VAR_H
#define LANEWISE_OPS_VAR_H

#include "moments.h"

static void var_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    double degrees = (double)count - parameters[0].f;
    float value = (float)(total->moments.squares / (degrees > 0 ? degrees : 0));
    if (count == 0) value = __builtin_nanf("");
    __builtin_memcpy(out, &value, sizeof value);
}

static const reducer var_reducer_float32 = {1,         sizeof(float), moments_block, moments_columns, moments_joined,
                                            var_finish};
REDUCTION_KERNEL(var, float32)

#endif
