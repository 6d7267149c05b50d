/* The square root of the sum of squares, without intermediate overflow or underflow.
 *
 * 1. Sum a block of squares in float32.
 * 2. If the sum overflowed, or is so small that squares lost to underflow (at most 4096 * 2^-150 in all) may matter,
 *    sum the block again with its elements multiplied by a power of two. The choice depends on the first sum alone, so
 *    the result is bit-identical on every backend.
 * 3. Add the sums of blocks in double, which holds the square of every float32.
 * After Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978, which chooses among three
 * ranges for each element; this file chooses once per block. */
#pragma once

#include "ops/sum_of_squares.h"

#define NORM_L2_SMALL 0x1p-100f /* smaller block sums are computed again, scaled up */
#define NORM_L2_SCALE_UP 0x1p100f
#define NORM_L2_SCALE_DOWN 0x1p-76f

/* The plain sum of squares of a block. */
INLINE float norm_l2_squares(const reduce_source *from, int64_t count) {
    return element_from_bits(sum_of_squares_reduce(from, count));
}

/* The sum of squares of a block whose plain sum, `sum`, overflowed or underflowed. Scaled down, elements are below
 * 2^52; scaled up, below 2^50. So the sum of 4096 squares is finite unless an element is infinite or NaN. */
RARE double norm_l2_scaled(const char *x, int64_t stride, int64_t count, float sum) {
    PATH_EITHER(sum < 1, "norm_l2: scaled up", "norm_l2: scaled down");
    float factor = sum < 1 ? NORM_L2_SCALE_UP : NORM_L2_SCALE_DOWN, scaled[REDUCE_BLOCK];
    reduce_source from = reduction_scaled(x, stride, count, factor, scaled);
    return (double)norm_l2_squares(&from, count) / ((double)factor * (double)factor);
}

/* The sum of squares of a block whose plain sum is `sum`; computed again, scaled, if `sum` is not accurate. */
INLINE double norm_l2_rescued(const char *x, int64_t stride, int64_t count, float sum) {
    if (sum >= NORM_L2_SMALL && sum < __builtin_inff()) {
        return (double)sum;
    }
    return norm_l2_scaled(x, stride, count, sum);
}

static void norm_l2_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    result->sum = norm_l2_rescued(from->x, sizeof(float), count, norm_l2_squares(from, count));
}

static void norm_l2_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                            reduced *results) {
    sum_of_squares_columns(from, start, count, columns, results);
    for (int64_t c = 0; c < columns; c++) {
        results[c].sum =
            norm_l2_rescued(from->x + c * (int64_t)sizeof(float), from->x_stride, count, reduced_element(results + c));
    }
}

static void norm_l2_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    float value = (float)__builtin_sqrt(total->sum);
    __builtin_memcpy(out, &value, sizeof value);
}

static const reducer norm_l2_reducer = {
    1, sizeof(float), norm_l2_block, norm_l2_columns, reduced_join_sums, norm_l2_finish};
REDUCTION_KERNEL(norm_l2)
