/* e^(x - max) divided by the sum of these. The largest exponent is 0, so the sum is at least 1: its reciprocal is
 * neither infinite nor denormal. A row with NaN or +inf, or of -inf alone, becomes NaN, because inf - inf is, and so is
 * a sum with NaN: the largest element is that of the others. */
#pragma once

#include "ops/exp.h"
#include "rows.h"

BLOCK_REDUCTION(softmax_max, float32, float32, vf32_set(-__builtin_inff()), x, vf32_at_least(a, b))

static float softmax_max(const row *r) {
    static const reducer max = {
        .size = sizeof(float), .block = softmax_max_block_float32, .join = softmax_max_join_partials_float32};
    return row_reduce_float32(r, r->in[0], &max);
}

INLINE vf32 softmax_power(const vf32 *x, const vf32 *max) { return op_exp_float32(x[0] - max[0]); }
INLINE vf32 softmax_scaled(const vf32 *power, const vf32 *scale) { return power[0] * scale[0]; }

/* Writes the exponentials of x - max and returns their sum. */
static double softmax_powers(const row *r, float max) {
    vf32 numbers = vf32_set(max);
    return row_map(r, r->in, 1, NULL, &numbers, softmax_power, 1);
}

static void softmax_row_float32(const row *r) {
    vf32 scale = vf32_set((float)(1 / softmax_powers(r, softmax_max(r))));
    row_map(r, &r->out, 1, NULL, &scale, softmax_scaled, 0);
}

ROWS(softmax, float32, 1)
