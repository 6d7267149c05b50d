/* The largest element of each window (pool.h), NaN if one is NaN. The padding is -inf, which changes no maximum. */
#pragma once

#include "pool.h"

static lw_status lw_max_pool2d_float32(lw_context *context, const void *layout, const void *const *inputs,
                                       void *const *outputs, const lw_scalar *parameters) {
    pool largest = {.padding = -__builtin_inff()};
    return pool_run(context, &largest, layout, inputs[0], outputs[0]);
}
