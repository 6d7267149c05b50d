/* The sum of floats with more bits than one: of float32 in double, which has five bits more than the two floats of a
 * compensated sum, and adding doubles takes fewer steps; of float64 as sum + lost, where `lost` is what the additions
 * lost (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974). Additions are in the
 * order of reduce_block.h. The 64 partial sums are kept in memory, because most instruction sets lack registers for
 * them. */
#pragma once

#include "ops/sum.h"

#if IS_FLOATING

#ifdef IS_64BIT
#include "math/pair.h"

typedef pair compensated; /* high is the sum, and low is what it lost */

INLINE compensated compensated_zero(void) { return (pair){v_set(-0.0), v_set(0)}; }

/* Knuth's TwoSum. */
INLINE compensated compensated_add(compensated sum, vec x) {
    vec high = sum.high + x, part = high - sum.high;
    return (pair){high, sum.low + ((sum.high - (high - part)) + (x - part))};
}
INLINE compensated compensated_join(compensated left, compensated right) {
    compensated sum = compensated_add(left, right.high);
    return (pair){sum.high, sum.low + right.low};
}
INLINE void compensated_store(double *sums, double *lost, compensated x) {
    v_store(sums, x.high);
    v_store(lost, x.low);
}
#else
typedef vdouble compensated;

INLINE compensated compensated_zero(void) { return d_set(-0.0); }
INLINE compensated compensated_add(compensated sum, vec x) { return sum + v_to_double(x); }
INLINE compensated compensated_join(compensated left, compensated right) { return left + right; }
INLINE void compensated_store(double *sums, double *lost, compensated x) {
    d_store(sums, x);
    d_store(lost, d_set(0));
}
#endif

static void sum_compensated_join(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) {
    double a = left->sum.value, b = right->sum.value, sum = a + b, part = sum - a;
    left->sum.value = sum;
    left->sum.lost += ELEMENT_SIZE == 8 ? ((a - (sum - part)) + (b - part)) + right->sum.lost : 0;
}

/* Joins `count` registers to the first, by halving. */
INLINE compensated compensated_join_all(compensated *partial, int count) {
    for (int n = count / 2; n; n /= 2) {
        for (int p = 0; p < n; p++) {
            partial[p] = compensated_join(partial[p], partial[p + n]);
        }
    }
    return partial[0];
}

INLINE vec compensated_load(const char *p, int n) {
    const element *x = (const element *)p;
    return n == LANES ? v_load(x) : v_load_partial(x, n, v_set(-(element)0));
}

static void sum_compensated_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {
    compensated partial[REDUCE_REGISTERS];
    for (int p = 0; p < REDUCE_REGISTERS; p++) {
        partial[p] = compensated_zero();
    }
    for (int64_t i = 0; i < count; i += LANES) {
        compensated *to = partial + i % REDUCE_PARTIALS / LANES;
        *to = compensated_add(*to, compensated_load(from->x + i * ELEMENT_SIZE, (int)min_int64(count - i, LANES)));
    }
    double sums[LANES], lost[LANES];
    reduced lanes[LANES];
    compensated_store(sums, lost, compensated_join_all(partial, REDUCE_REGISTERS));
    for (int lane = 0; lane < LANES; lane++) {
        lanes[lane].sum.value = sums[lane];
        lanes[lane].sum.lost = lost[lane];
    }
    for (int n = LANES / 2; n; n /= 2) {
        for (int lane = 0; lane < n; lane++) {
            sum_compensated_join(lanes + lane, 1, lanes + lane + n, 1);
        }
    }
    *result = lanes[0];
}

static void sum_compensated_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns,
                                    reduced *results) {
    for (int64_t c = 0; c < columns; c += LANES) {
        int n = (int)min_int64(columns - c, LANES);
        compensated partial[REDUCE_PARTIALS];
        for (int p = 0; p < REDUCE_PARTIALS; p++) {
            partial[p] = compensated_zero();
        }
        for (int64_t i = 0; i < count; i++) {
            compensated *to = partial + i % REDUCE_PARTIALS;
            *to = compensated_add(*to, compensated_load(from->x + i * from->x_stride + c * ELEMENT_SIZE, n));
        }
        double sums[LANES], lost[LANES];
        compensated_store(sums, lost, compensated_join_all(partial, REDUCE_PARTIALS));
        for (int lane = 0; lane < n; lane++) {
            results[c + lane].sum.value = sums[lane];
            results[c + lane].sum.lost = lost[lane];
        }
    }
}

/* What an infinite sum lost is NaN. */
INLINE void sum_compensated_finish_one(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    double sum = total->sum.value, lost = total->sum.lost;
    element value = count == 0 ? 0 : (element)(lost != 0 && lost == lost ? sum + lost : sum);
    __builtin_memcpy(out, &value, sizeof value);
}
FINISH(sum_compensated)

static const reducer sum_compensated_reducer = {1,
                                                ELEMENT_SIZE,
                                                sum_compensated_block,
                                                sum_compensated_columns,
                                                sum_compensated_join,
                                                sum_compensated_finish,
                                                REDUCE_UNDECIDED,
                                                NULL,
                                                NULL,
                                                NULL};
REDUCTION_KERNEL(sum_compensated)

#else /* the plain sum of integers is exact modulo 2^n already */
REDUCTION_FINISHED(sum_compensated, sum, 1, vec, element, total, REDUCE_UNDECIDED, sum_outputs, NULL)
#endif
