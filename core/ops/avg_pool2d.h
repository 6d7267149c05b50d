/* The mean of each window (pool.h): the sums of its columns are added, and the total is divided once.
 * parameters: count_include_pad, whether the divisor includes padding elements. */
#pragma once

#include "pool.h"

ELEMENT_KERNEL(avg_pool2d) {
    const lw_window_layout *w = layout;
    pool mean = {.sums = 1};
    if (parameters[0].i || (w->padding[0] == 0 && w->padding[1] == 0)) {
        mean.divisor = (element)(w->kernel_size[0] * w->kernel_size[1]);
    }
    return pool_run(context, &mean, w, inputs[0], outputs[0]);
}
