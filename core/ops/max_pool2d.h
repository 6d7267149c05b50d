/* The largest element in each window (pool.h). The padding is -inf, which never wins; NaN wins. */
#pragma once

#include "pool.h"

static lw_status lw_max_pool2d_float32(lw_context *context, const void *layout, const void *const *inputs,
                                       void *const *outputs, const lw_scalar *parameters) {
    (void)parameters;
    pool largest = {.padding = -__builtin_inff()};
    return pool_run(context, &largest, layout, inputs[0], outputs[0]);
}
