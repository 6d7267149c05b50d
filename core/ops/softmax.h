/* The exponentials e^(x - max), divided by their sum. One exponent is 0, so the sum is at least 1, and its reciprocal
 * is neither infinite nor denormal. A row that contains NaN or +inf, or only -inf, becomes NaN: inf - inf is NaN, and
 * so is a sum with NaN. The max itself ignores NaN. */
#pragma once

#include "ops/exp.h"
#include "reduce/rows.h"

BLOCK_REDUCTION(softmax_max, vec, v_set(-__builtin_inff()), x, v_at_least(a, b))
BLOCK_COLUMNS(softmax_max, REDUCE_ANY_ORDER, v_set(-__builtin_inff()))

static const reducer softmax_max = {.size = ELEMENT_SIZE,
                                    .block = softmax_max_block,
                                    .columns = softmax_max_columns,
                                    .join = softmax_max_join_partials,
                                    .outputs = softmax_max_outputs};

INLINE vec softmax_power(const vec *x, const vec *max) { return op_exp(x[0] - max[0]); }
INLINE vec softmax_scaled(const vec *power, const vec *scale) { return power[0] * scale[0]; }

ROW_MAP(softmax_map_powers, 1, 1, softmax_power, 1)
ROW_MAP(softmax_map_scaled, 1, 1, softmax_scaled, 0)

INLINE void softmax_powers_of(const row *r, int beside, row_numbers *max, double *sums) {
    row_reduce_elements(r, beside, r->in[0], &softmax_max, *max);
    softmax_map_powers(r, beside, r->in, NULL, max, sums);
}

/* Writes e^(x - max) to the result, and computes the max and the sums. Compiled once for all that call it. */
static __attribute__((noinline)) void softmax_powers(const row *r, int beside, row_numbers *max, double *sums) {
    if (beside) {
        softmax_powers_of(r, 1, max, sums);
    } else {
        softmax_powers_of(r, 0, max, sums);
    }
}

INLINE void softmax_rows(const row *r, int beside) {
    row_numbers number;
    double sums[ROW_BESIDE];
    softmax_powers(r, beside, &number, sums);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        number[i] = (element)(1 / sums[i]);
    }
    softmax_map_scaled(r, beside, &r->out, NULL, &number, NULL);
}

ROWS(softmax, 1)
