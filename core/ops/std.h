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

static lw_status lw_std_float32(lw_context *context, const void *layout, const void *const *inputs,
                                void *const *outputs, const lw_scalar *parameters) {
    static const reducer r = {sizeof(float), moments_block, moments_columns, moments_joined, std_finish};
    return reduce(context, layout, inputs, outputs, parameters, &r);
}

#endif
