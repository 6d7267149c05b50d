/* Sums of squares without intermediate overflow or underflow.
 *
 * 1. Sum a block of squares.
 * 2. If the sum overflowed, or is so small that squares lost to underflow may matter, sum the block again with its
 *    elements multiplied by a power of two, `factor`. The choice depends on the first sum alone, so the result is
 *    bit-identical on every backend.
 * 3. Add the sums of blocks in double, as multiples of the smaller of their factors squared.
 * After Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978, which chooses among three
 * ranges for each element; this file chooses once per block. */
#pragma once

#include "reduce/reduction.h"

/* Sums outside SQUARES_SMALL .. SQUARES_LARGE are computed again. Squares lost to underflow add up to at most 4096
 * times half of the smallest denormal, far below SQUARES_SMALL. Sums of all blocks, in double, do not overflow. Scaled
 * down, elements are below 2^52 (float64: 2^424), scaled up below 2^50 (2^120), so that the sum of 4096 squares is
 * finite unless an element is infinite or NaN. */
#define SQUARES_SMALL BY_PRECISION(0x1p-100, 0x1p-960)
#define SQUARES_LARGE BY_PRECISION(__builtin_inf(), 0x1p960)
#define SQUARES_SCALE_UP BY_PRECISION(0x1p100, 0x1p600)
#define SQUARES_SCALE_DOWN BY_PRECISION(0x1p-76, 0x1p-600)

/* Whether a sum of squares must be computed again. NaN must: it may come from an overflow. */
INLINE int squares_are_inexact(double squares) { return !(squares >= SQUARES_SMALL && squares < SQUARES_LARGE); }

/* The factor to compute inexact squares again with. */
INLINE double squares_factor(double squares) { return squares < SQUARES_SMALL ? SQUARES_SCALE_UP : SQUARES_SCALE_DOWN; }

/* Multiplies the factor of a sum of squares by a power of two of at most 1. */
INLINE void squares_scale(reduced *r, double by) {
    r->squares.squares *= by * by;
    r->squares.factor *= by;
}

/* Gives two sums of squares the same factor, the smaller one. The quotient can be 0: that sum is then negligible. */
INLINE void squares_align(reduced *left, reduced *right) {
    double smaller = left->squares.factor < right->squares.factor ? left->squares.factor : right->squares.factor;
    squares_scale(left, smaller / left->squares.factor);
    squares_scale(right, smaller / right->squares.factor);
    left->squares.factor = right->squares.factor = smaller;
}

/* The sum of squares itself, if it is in range. */
INLINE double squares_value(const reduced *r) { return r->squares.squares / r->squares.factor / r->squares.factor; }

/* The square root of the sum of squares divided by `by`. */
INLINE double squares_root(const reduced *r, double by) {
    return __builtin_sqrt(r->squares.squares / by) / r->squares.factor;
}

static void squares_join(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    reduced other = *right;
    squares_align(left, &other);
    left->squares.squares += other.squares.squares;
}

/* Writes a block's elements, times `factor`, to `scaled`. Returns a source that reads `scaled`. */
static reduce_source squares_scaled(const char *x, int64_t stride, int64_t count, double factor, element *scaled) {
    copy_strided((char *)scaled, sizeof(element), x, stride, count, sizeof(element));
    for (int64_t i = 0; i < count; i++) {
        scaled[i] *= (element)factor;
    }
    return (reduce_source){.x = (const char *)scaled, .y = (const char *)scaled};
}
