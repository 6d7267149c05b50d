/* Mean and sum of squared deviations, safe for a mean that is large beside the deviations.
 *
 * A block is read three times while it is in the cache: for its mean m, rounded to float32; for the sum of x - m, which
 * corrects what that rounding lost; and for the sum of (x - m)^2. Blocks are joined in double. Source: Chan, Golub and
 * LeVeque, "Algorithms for computing the sample variance", 1983, (1.7) and the pairwise (2.1). */
#ifndef LANEWISE_MOMENTS_H
#define LANEWISE_MOMENTS_H

#include "reduction.h"

LANE vi32 moments_add(vi32 a, vi32 b) { return (vi32)((vf32)a + (vf32)b); }
LANE vi32 moments_identity(void) { return (vi32)vf32_set(-0.0f); }

static inline float moments_round_mean(float sum, int64_t count) { return (float)((double)sum / (double)count); }

/* The block's moments from its rounded mean and the sums of deviations from it. */
static inline void moments_of(float mean, float deviations, float squares, int64_t count, reduced *result) {
    double lost = (double)deviations / (double)count;
    double sum = (double)squares - (double)deviations * lost;
    result->moments.mean = (double)mean + lost;
    result->moments.squares = sum < 0 ? 0 : sum; /* by rounding; NaN stays */
}

static void moments_joined(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    double n = (double)left_count + (double)right_count, share = (double)right_count / n;
    double apart = right->moments.mean - left->moments.mean;
    left->moments.squares += right->moments.squares + apart * apart * ((double)left_count * share);
    left->moments.mean += apart * share;
}

LANE float moments_float(int32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

LANE vi32 moments_value(const char *p, int n, vi32 state) {
    (void)state;
    return (vi32)lane_load_float32(p, n);
}
LANE vi32 moments_deviation(const char *p, int n, vi32 mean) { return (vi32)(lane_load_float32(p, n) - (vf32)mean); }
LANE vi32 moments_square(const char *p, int n, vi32 mean) {
    vf32 deviation = (vf32)moments_deviation(p, n, mean);
    return (vi32)(deviation * deviation);
}

LANE float moments_fold(const char *x, int64_t count, float mean, fold_map *map) {
    vi32 sum = fold_block(x, count, sizeof(float), moments_identity(), (vi32)vf32_set(mean), map, moments_add);
    return vf32_first((vf32)sum);
}
LANE void moments_fold_columns(const char *x, int64_t stride, int64_t count, int64_t columns, const int32_t *means,
                               fold_map *map, int32_t *sums) {
    fold_columns(x, stride, count, columns, sizeof(float), moments_identity(), means, map, moments_add, sums);
}

/* As in a reducer. */
static void moments_block(const char *x, int64_t start, int64_t count, reduced *result) {
    (void)start;
    float mean = moments_round_mean(moments_fold(x, count, 0, moments_value), count);
    float deviations = moments_fold(x, count, mean, moments_deviation);
    moments_of(mean, deviations, moments_fold(x, count, mean, moments_square), count, result);
}

static void moments_columns(const char *x, int64_t stride, int64_t start, int64_t count, int64_t columns,
                            reduced *results) {
    int32_t means[FOLD_COLUMNS], deviations[FOLD_COLUMNS], squares[FOLD_COLUMNS];
    (void)start;
    moments_fold_columns(x, stride, count, columns, NULL, moments_value, means);
    for (int64_t c = 0; c < columns; c++) {
        float mean = moments_round_mean(moments_float(means[c]), count);
        __builtin_memcpy(means + c, &mean, sizeof mean);
    }
    moments_fold_columns(x, stride, count, columns, means, moments_deviation, deviations);
    moments_fold_columns(x, stride, count, columns, means, moments_square, squares);
    for (int64_t c = 0; c < columns; c++)
        moments_of(moments_float(means[c]), moments_float(deviations[c]), moments_float(squares[c]), count,
                   results + c);
}

#endif
