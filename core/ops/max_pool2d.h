/* The largest element of each window (pool.h), NaN if one is NaN. The padding is -inf, which changes no maximum. */
#pragma once

#include "pool.h"

ELEMENT_KERNEL(max_pool2d) {
    pool largest = {.padding = -__builtin_inff()};
    return pool_run(context, &largest, layout, inputs[0], outputs[0]);
}
