/* Mean and sum of squared deviations, accurate even if the mean is large compared to the deviations.
 *
 * 1. A block is read twice while it is in the cache: for its mean m, rounded to an element; then for sum(x - m), which
 *    corrects the rounding of m, and sum((x - m)^2).
 * 2. Blocks are joined in double.
 * Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, formula (1.7) for step 1 and
 * the pairwise formula (2.1) for step 2. */
#pragma once

#include "reduce/squares.h"

INLINE void moments_add(vbits *left, const vbits *right) { *left = (vbits)((vec)*left + (vec)*right); }
INLINE vbits moments_identity(void) { return (vbits)v_set(-(element)0); }

static inline element moments_round_mean(element sum, int64_t count) { return (element)((double)sum / (double)count); }

/* Computes a block's moments from its rounded mean, the sum of the deviations from it, and the sum of their squares. */
static inline void moments_of(element mean, element deviations, element squares, int64_t count, reduced *result) {
    double lost = (double)deviations / (double)count;
    double sum = (double)squares - (double)deviations * lost;
    result->squares.mean = (double)mean + lost;
    result->squares.squares = sum < 0 ? 0 : sum; /* rounding can make the sum of squares negative; NaN stays NaN */
    result->squares.factor = 1;
}

static void moments_join(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    double n = (double)left_count + (double)right_count, share = (double)right_count / n;
    reduced other = *right;
    squares_align(left, &other);
    double factor = other.squares.factor, apart = other.squares.mean * factor - left->squares.mean * factor;
    left->squares.squares += other.squares.squares + apart * apart * ((double)left_count * share);
    left->squares.mean += apart * share / factor;
}

INLINE void moments_value(const char *x, const char *y, int n, vbits state, vbits *value) {
    *value = (vbits)reduce_load(x, n);
}
INLINE void moments_deviation(const char *x, const char *y, int n, vbits mean, vbits *deviation) {
    *deviation = (vbits)(reduce_load(x, n) - (vec)mean);
}
INLINE void moments_square(const char *x, const char *y, int n, vbits mean, vbits *square) {
    vbits deviation;
    moments_deviation(x, y, n, mean, &deviation);
    *square = (vbits)((vec)deviation * (vec)deviation);
}

/* Computes deviations and squares in one pass. Each vector takes a subtraction, a multiplication and two additions.
 * The addition to the sum of deviations is an FMA instruction, so that the adder and the FMA unit each execute two of
 * these four operations. */
INLINE void moments_both(const char *x, const char *y, int n, vbits mean, vbits *sums) {
    moments_deviation(x, y, n, mean, sums);
    sums[1] = (vbits)((vec)sums[0] * (vec)sums[0]);
}
INLINE void moments_add_both(vbits *left, const vbits *right) {
    left[0] = (vbits)v_add_on_fma_unit((vec)right[0], (vec)left[0]);
    moments_add(left + 1, right + 1);
}

/* Sums a block's deviations from `center`, and their squares. */
INLINE void moments_sums(const reduce_source *from, int64_t count, element center, element *deviations,
                         element *squares) {
    vbits sums[2];
    reduce_block(from, count, REDUCE_PARTIALS, 2, moments_identity(), (vbits)v_set(center), moments_both,
                 moments_add_both, sums);
    *deviations = v_first((vec)sums[0]);
    *squares = v_first((vec)sums[1]);
}

/* Computes a block's moments by step 1 above, reading the block twice. */
static void moments_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    vbits sum;
    reduce_block(from, count, REDUCE_PARTIALS, 1, moments_identity(), b_set(0), moments_value, moments_add, &sum);
    element mean = moments_round_mean(v_first((vec)sum), count), deviations, squares;
    moments_sums(from, count, mean, &deviations, &squares);
    moments_of(mean, deviations, squares, count, result);
}

static inline element moments_center(const char *x, int64_t stride, int64_t count) {
    element first = element_load(x), quarter = element_load(x + count / 4 * stride);
    element half = element_load(x + count / 2 * stride), last = element_load(x + (count - 1) * stride);
    return (first + quarter + (half + last)) * (element)0.25;
}

/* Computes moments like moments_of, from sums around a center. Returns whether the center is near enough. */
static inline int moments_of_center(element center, element deviations, element squares, int64_t count,
                                    reduced *result) {
    double share = 1 / (double)count, lost = (double)deviations * share;
    result->squares.mean = (double)center + lost;
    result->squares.squares = (double)squares - (double)deviations * lost;
    result->squares.factor = 1;
    return (double)squares <= 4 * result->squares.squares;
}

/* Like moments_block, but reads the block only once, and rounds differently: uses deviations from `center`, the mean of
 * four of the block's elements. If `center` is within 1.7 standard deviations of the block's mean, correcting the sum
 * of squares for the distance between `center` and the mean cancels at most two bits. If it is farther away, or if
 * there is NaN or overflow, moments_block reads the block again. */
static void moments_block_once(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    element deviations, squares, center = moments_center(from->x, ELEMENT_SIZE, count);
    moments_sums(from, count, center, &deviations, &squares);
    if (!moments_of_center(center, deviations, squares, count, result)) {
        PATH("moments: block read again");
        moments_block(from, start, count, result);
    }
}

/* Sums the deviations of columns from their centers, and the squares of these. Not inlined, because it is large. */
static __attribute__((noinline)) void moments_column_sums(const reduce_source *from, int64_t count, int64_t columns,
                                                          const element_bits *centers, element_bits *deviations,
                                                          element_bits *squares) {
    reduce_columns(from, count, columns, REDUCE_IN_ORDER, moments_identity(), centers, moments_deviation, moments_add,
                   deviations);
    reduce_columns(from, count, columns, REDUCE_IN_ORDER, moments_identity(), centers, moments_square, moments_add,
                   squares);
}

static void moments_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                            reduced *results) {
    element_bits means[REDUCE_MAX_COLUMNS], deviations[REDUCE_MAX_COLUMNS], squares[REDUCE_MAX_COLUMNS];
    reduce_columns(from, count, columns, REDUCE_IN_ORDER, moments_identity(), NULL, moments_value, moments_add, means);
    for (int64_t c = 0; c < columns; c++) {
        element mean = moments_round_mean(element_from_bits(means[c]), count);
        __builtin_memcpy(means + c, &mean, sizeof mean);
    }
    moments_column_sums(from, count, columns, means, deviations, squares);
    for (int64_t c = 0; c < columns; c++) {
        moments_of(element_from_bits(means[c]), element_from_bits(deviations[c]), element_from_bits(squares[c]), count,
                   results + c);
    }
}

/* What moments_block_once computes, of adjacent columns. */
static void moments_columns_once(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                                 reduced *results) {
    element_bits centers[REDUCE_MAX_COLUMNS], deviations[REDUCE_MAX_COLUMNS], squares[REDUCE_MAX_COLUMNS];
    for (int64_t c = 0; c < columns; c++) {
        element center = moments_center(from->x + c * ELEMENT_SIZE, from->x_stride, count);
        __builtin_memcpy(centers + c, &center, sizeof center);
    }
    moments_column_sums(from, count, columns, centers, deviations, squares);
    for (int64_t c = 0; c < columns; c++) {
        if (!moments_of_center(element_from_bits(centers[c]), element_from_bits(deviations[c]),
                               element_from_bits(squares[c]), count, results + c)) {
            PATH("moments: column read again");
            reduce_source column = {.x_stride = from->x_stride, .y_stride = from->x_stride};
            column.x = column.y = from->x + c * ELEMENT_SIZE;
            moments_columns(&column, start, count, 1, results + c);
        }
    }
}

/* If the mean's size is 2^-20 (float64: 2^-400) or more, nonzero deviations are at least 2^-24 (2^-53) times as large,
 * so a sum of squares below SQUARES_SMALL is exactly 0 and needs no scaling. */
#define MOMENTS_SMALL_MEAN BY_PRECISION(0x1p-20, 0x1p-400)

/* Computes a block's moments from its elements times `factor`, a power of two. Scaled down, they are below 2^52
 * (float64: 2^424), scaled up below 2^81 (2^201), so that their sum is finite. */
RARE void moments_scaled(const char *x, int64_t stride, int64_t count, double factor, reduced *result) {
    element scaled[REDUCE_BLOCK];
    reduce_source from = squares_scaled(x, stride, count, factor, scaled);
    moments_block(&from, 0, count, result);
    result->squares.mean /= factor;
    result->squares.factor = factor;
}

/* Computes a block's moments again from scaled elements if its sum of squares is inexact (squares.h). */
INLINE void moments_rescue(const char *x, int64_t stride, int64_t count, reduced *result) {
    double mean = result->squares.mean, squares = result->squares.squares;
    if (!squares_are_inexact(squares)) {
        return;
    }
    if (!(squares < SQUARES_SMALL)) {
        PATH("moments: scaled down");
        moments_scaled(x, stride, count, SQUARES_SCALE_DOWN, result);
    } else if (mean < MOMENTS_SMALL_MEAN && mean > -MOMENTS_SMALL_MEAN) {
        PATH("moments: scaled up");
        moments_scaled(x, stride, count, SQUARES_SCALE_UP, result);
    }
}
