/* The largest element of each window (pool.h), NaN if one is NaN. The padding is -inf, which changes no maximum. */
#pragma once

#include "pool.h"

KERNEL(max_pool2d_float32) {
    pool largest = {.padding = -__builtin_inff()};
    return pool_run(context, &largest, layout, inputs[0], outputs[0]);
}
