/* The variance: the sum of squared deviations from the mean (moments.h) divided by max(n - correction, 0), as in NumPy.
 * parameters: correction. */
#pragma once

#include "reduce/moments.h"

static void var_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    moments_block(from, start, count, result);
    moments_rescue(from->x, sizeof(float), count, result);
}

static void var_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns, reduced *results) {
    moments_columns(from, start, count, columns, results);
    for (int64_t c = 0; c < columns; c++) {
        moments_rescue(from->x + c * (int64_t)sizeof(float), from->x_stride, count, results + c);
    }
}

static double var_of(const reduced *total, int64_t count, const lw_scalar *parameters) {
    double degrees = (double)count - parameters[0].f;
    return count ? total->moments.squares / (degrees > 0 ? degrees : 0) : __builtin_nan("");
}

static void var_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    float value = (float)var_of(total, count, parameters);
    __builtin_memcpy(out, &value, sizeof value);
}

static const reducer var_reducer = {1, sizeof(float), var_block, var_columns, moments_join, var_finish};
REDUCTION_KERNEL(var)
