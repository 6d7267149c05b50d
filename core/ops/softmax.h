/* The exponentials e^(x - max), divided by their sum. One exponent is 0, so the sum is at least 1, and its reciprocal
 * is neither infinite nor denormal. A row that contains NaN or +inf, or only -inf, becomes NaN: inf - inf is NaN, and
 * so is a sum with NaN. The max itself ignores NaN. */
#pragma once

#include "ops/exp.h"
#include "reduce/rows.h"

BLOCK_REDUCTION(softmax_max, vec, v_set(-__builtin_inff()), x, v_at_least(a, b))

static element softmax_max(const row *r) {
    static const reducer max = {.size = ELEMENT_SIZE, .block = softmax_max_block, .join = softmax_max_join_partials};
    return row_reduce_element(r, r->in[0], &max);
}

INLINE vec softmax_power(const vec *x, const vec *max) { return op_exp(x[0] - max[0]); }
INLINE vec softmax_scaled(const vec *power, const vec *scale) { return power[0] * scale[0]; }

ROW_MAP(softmax_map_powers, 1, 1, softmax_power, 1)
ROW_MAP(softmax_map_scaled, 1, 1, softmax_scaled, 0)

/* Writes e^(x - max) to the result and returns the sum. */
static double softmax_powers(const row *r, element max) {
    vec numbers = v_set(max);
    return softmax_map_powers(r, r->in, NULL, &numbers);
}

static void softmax_row(const row *r) {
    vec scale = v_set((element)(1 / softmax_powers(r, softmax_max(r))));
    softmax_map_scaled(r, &r->out, NULL, &scale);
}

ROWS(softmax, 1)
