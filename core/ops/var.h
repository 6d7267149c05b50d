/* The variance: the sum of squared deviations from the mean (moments.h) divided by max(n - correction, 0), as in NumPy.
 * parameters: correction. */
#pragma once

#include "reduce/moments.h"

static void var_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    moments_block(from, start, count, result);
    moments_rescue(from->x, ELEMENT_SIZE, count, result);
}

static void var_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns, reduced *results) {
    moments_columns(from, start, count, columns, results);
    for (int64_t c = 0; c < columns; c++) {
        moments_rescue(from->x + c * ELEMENT_SIZE, from->x_stride, count, results + c);
    }
}

/* What the sum of squares is divided by. NaN without elements, so that the result is NaN. */
static double var_degrees(int64_t count, const lw_scalar *parameters) {
    double degrees = (double)count - parameters[0].f;
    return count == 0 ? __builtin_nan("") : degrees > 0 ? degrees : 0;
}

INLINE void var_finish_one(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    reduced variance = *total;
    variance.squares.squares /= var_degrees(count, parameters);
    element value = (element)squares_value(&variance);
    __builtin_memcpy(out, &value, sizeof value);
}
FINISH(var)

static const reducer var_reducer = {1,          ELEMENT_SIZE,     var_block, var_columns, moments_join,
                                    var_finish, REDUCE_UNDECIDED, NULL,      NULL,        NULL};
REDUCTION_KERNEL(var)
