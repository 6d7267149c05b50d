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

LANE vi32 moments_value(const char *x, const char *y, int n, vi32 state) {
    (void)y, (void)state;
    return (vi32)lane_load_float32(x, n);
}
LANE vi32 moments_deviation(const char *x, const char *y, int n, vi32 mean) {
    (void)y;
    return (vi32)(lane_load_float32(x, n) - (vf32)mean);
}
LANE vi32 moments_square(const char *x, const char *y, int n, vi32 mean) {
    vf32 deviation = (vf32)moments_deviation(x, y, n, mean);
    return (vi32)(deviation * deviation);
}

LANE float moments_fold(const fold_source *from, int64_t count, float mean, fold_map *map) {
    vi32 sum = fold_block(from, count, sizeof(float), moments_identity(), (vi32)vf32_set(mean), map, moments_add);
    return vf32_first((vf32)sum);
}
LANE void moments_fold_columns(const fold_source *from, int64_t count, int64_t columns, const int32_t *means,
                               fold_map *map, int32_t *sums) {
    fold_columns(from, count, columns, sizeof(float), moments_identity(), means, map, moments_add, sums);
}

/* As in a reducer. */
static void moments_block(const fold_source *from, int64_t start, int64_t count, reduced *result) {
    (void)start;
    float mean = moments_round_mean(moments_fold(from, count, 0, moments_value), count);
    float deviations = moments_fold(from, count, mean, moments_deviation);
    moments_of(mean, deviations, moments_fold(from, count, mean, moments_square), count, result);
}

static void moments_columns(const fold_source *from, int64_t start, int64_t count, int64_t columns, reduced *results) {
    int32_t means[FOLD_COLUMNS], deviations[FOLD_COLUMNS], squares[FOLD_COLUMNS];
    (void)start;
    moments_fold_columns(from, count, columns, NULL, moments_value, means);
    for (int64_t c = 0; c < columns; c++) {
        float mean = moments_round_mean(moments_float(means[c]), count);
        __builtin_memcpy(means + c, &mean, sizeof mean);
    }
    moments_fold_columns(from, count, columns, means, moments_deviation, deviations);
    moments_fold_columns(from, count, columns, means, moments_square, squares);
    for (int64_t c = 0; c < columns; c++)
        moments_of(moments_float(means[c]), moments_float(deviations[c]), moments_float(squares[c]), count,
                   results + c);
}

#endif
