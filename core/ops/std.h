/* The standard deviation: the root of the variance (var.h). parameters: correction. */
#ifndef LANEWISE_OPS_STD_H
#define LANEWISE_OPS_STD_H

#include "ops/var.h"

static void std_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    float value;
    var_finish(total, count, parameters, (char *)&value);
    value = vf32_first(vf32_sqrt(vf32_set(value)));
    __builtin_memcpy(out, &value, sizeof value);
}

static const reducer std_reducer_float32 = {1,         sizeof(float), moments_block, moments_columns, moments_joined,
                                            std_finish};
REDUCTION_KERNEL(std, float32)

#endif
