/* The square root of the sum of squares, without intermediate overflow or underflow (squares.h). */
#pragma once

#include "ops/sum_of_squares.h"
#include "reduce/squares.h"

/* The plain sum of squares of a block. */
INLINE element norm_l2_squares(const reduce_source *from, int64_t count) {
    return element_from_bits(sum_of_squares_reduce(from, count));
}

RARE void norm_l2_scaled(const char *x, int64_t stride, int64_t count, element squares, reduced *result) {
    PATH_EITHER(squares < 1, "norm_l2: scaled up", "norm_l2: scaled down");
    double factor = squares_factor((double)squares);
    element scaled[REDUCE_BLOCK];
    reduce_source from = squares_scaled(x, stride, count, factor, scaled);
    result->squares.squares = (double)norm_l2_squares(&from, count);
    result->squares.factor = factor;
}

/* Computes a block's result from its plain sum of squares. */
INLINE void norm_l2_of(const char *x, int64_t stride, int64_t count, element squares, reduced *result) {
    result->squares.squares = (double)squares;
    result->squares.factor = 1;
    if (squares_are_inexact((double)squares)) {
        norm_l2_scaled(x, stride, count, squares, result);
    }
}

static void norm_l2_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    norm_l2_of(from->x, ELEMENT_SIZE, count, norm_l2_squares(from, count), result);
}

static void norm_l2_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                            reduced *results) {
    sum_of_squares_columns(from, start, count, columns, results);
    for (int64_t c = 0; c < columns; c++) {
        norm_l2_of(from->x + c * ELEMENT_SIZE, from->x_stride, count, reduced_element(results + c), results + c);
    }
}

INLINE void norm_l2_finish_one(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    element value = (element)squares_root(total, 1);
    __builtin_memcpy(out, &value, sizeof value);
}
FINISH(norm_l2)

static const reducer norm_l2_reducer = {
    1, ELEMENT_SIZE, norm_l2_block, norm_l2_columns, squares_join, norm_l2_finish, REDUCE_UNDECIDED, NULL, NULL, NULL};
REDUCTION_KERNEL(norm_l2)
