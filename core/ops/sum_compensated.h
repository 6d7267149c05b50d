/* The sum of float32 elements, in double: a double has five bits more than the two floats of a compensated sum, and
 * adding doubles takes fewer steps. Additions are in the order of reduce_block.h. The 64 partial sums are kept in
 * memory, because most instruction sets lack registers for 64 doubles. */
#pragma once

#include "ops/sum.h"

#if IS_FLOATING

INLINE wf64 sum_compensated_load(const char *p, int n) {
    const float *x = (const float *)p;
    return vf32_to_wf64(n == VF32_LANES ? vf32_load(x) : vf32_load_partial(x, n, vf32_set(-0.0f)));
}

static void sum_compensated_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    double partial[REDUCE_PARTIALS];
    for (int p = 0; p < REDUCE_PARTIALS; p++) {
        partial[p] = -0.0;
    }
    for (int64_t i = 0; i < count; i += VF32_LANES) {
        int n = (int)min_int64(count - i, VF32_LANES);
        double *to = partial + i % REDUCE_PARTIALS;
        wf64_store(to, wf64_load(to) + sum_compensated_load(from->x + i * (int64_t)sizeof(float), n));
    }
    for (int n = REDUCE_PARTIALS / 2; n; n /= 2) {
        for (int p = 0; p < n; p++) {
            partial[p] += partial[p + n];
        }
    }
    result->sum = partial[0];
}

static void sum_compensated_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                                    reduced *results) {
    for (int64_t c = 0; c < columns; c += VF32_LANES) {
        int n = (int)min_int64(columns - c, VF32_LANES);
        wf64 partial[REDUCE_PARTIALS];
        for (int p = 0; p < REDUCE_PARTIALS; p++) {
            partial[p] = wf64_set(-0.0);
        }
        for (int64_t i = 0; i < count; i++) {
            partial[i % REDUCE_PARTIALS] +=
                sum_compensated_load(from->x + i * from->x_stride + c * (int64_t)sizeof(float), n);
        }
        for (int half = REDUCE_PARTIALS / 2; half; half /= 2) {
            for (int p = 0; p < half; p++) {
                partial[p] += partial[p + half];
            }
        }
        for (int lane = 0; lane < n; lane++) {
            results[c + lane].sum = partial[0][lane];
        }
    }
}

static void sum_compensated_join(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    left->sum += right->sum;
}

static void sum_compensated_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    float value = count ? (float)total->sum : 0;
    __builtin_memcpy(out, &value, sizeof value);
}

static const reducer sum_compensated_reducer = {
    1, sizeof(float), sum_compensated_block, sum_compensated_columns, sum_compensated_join, sum_compensated_finish};
REDUCTION_KERNEL(sum_compensated)

#else /* the plain sum of integers is exact modulo 2^n already */
REDUCTION_FINISHED(sum_compensated, sum, 1, vec, element, total)
#endif
