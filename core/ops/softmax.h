/* e^(x - max) divided by the sum of these. The largest exponent is 0, so the sum is at least 1: its reciprocal is
 * neither infinite nor denormal. A row with NaN or +inf, or of -inf alone, becomes NaN, because inf - inf is. */
#ifndef LANEWISE_OPS_SOFTMAX_H
#define LANEWISE_OPS_SOFTMAX_H

#include "ops/exp.h"
#include "ops/max.h"
#include "ops/sum.h"
#include "rows.h"

static float softmax_max(const row *r, float *packed) {
    vf32 largest = vf32_set(-__builtin_inff());
    for (int64_t start = 0; start < r->length; start += FOLD_BLOCK) {
        int64_t count = min_int64(r->length - start, FOLD_BLOCK);
        const float *x = row_read(r->in[0], start, count, packed);
        vi32 folded = fold_block((const char *)x, count, sizeof *x, (vi32)vf32_set(-__builtin_inff()), vi32_set(0),
                                 max_map_float32, max_join_float32);
        largest = vf32_maximum(largest, (vf32)folded);
    }
    return vf32_first(largest);
}

/* Writes the exponentials of some blocks and returns their sum, by the tree of reduction.h. */
static float softmax_exponentials(const row *r, float max, int64_t first, int64_t blocks, float *packed) {
    if (blocks > 1) {
        int64_t left = 1;
        while (left * 2 < blocks) left *= 2;
        float sum = softmax_exponentials(r, max, first, left, packed);
        return sum + softmax_exponentials(r, max, first + left, blocks - left, packed);
    }
    int64_t start = first * FOLD_BLOCK, count = min_int64(r->length - start, FOLD_BLOCK), i = 0;
    const float *x = row_read(r->in[0], start, count, packed);
    float *result = row_result(r, start, packed);
    for (; i + VF32_LANES <= count; i += VF32_LANES)
        vf32_store(result + i, op_exp_float32(vf32_load(x + i) - vf32_set(max)));
    if (i < count) {
        int n = (int)(count - i);
        vf32_store_partial(result + i, op_exp_float32(vf32_load_partial(x + i, n, vf32_set(max)) - vf32_set(max)), n);
    }
    row_write(r, start, count, result);
    return vf32_first((vf32)fold_block((const char *)result, count, sizeof *result, (vi32)vf32_set(-0.0f), vi32_set(0),
                                       sum_map_float32, sum_join_float32));
}

static void softmax_row(const row *r) {
    float packed[FOLD_BLOCK];
    float max = softmax_max(r, packed);
    float sum = softmax_exponentials(r, max, 0, divide_up(r->length, FOLD_BLOCK), packed);
    vf32 scale = vf32_set(1 / sum);
    for (int64_t start = 0; start < r->length; start += FOLD_BLOCK) {
        int64_t count = min_int64(r->length - start, FOLD_BLOCK), i = 0;
        float *result = row_result(r, start, packed);
        row_read((row_operand){r->out, r->out_stride}, start, count, packed);
        for (; i + VF32_LANES <= count; i += VF32_LANES) vf32_store(result + i, vf32_load(result + i) * scale);
        if (i < count) {
            int n = (int)(count - i);
            vf32_store_partial(result + i, vf32_load_partial(result + i, n, vf32_set(0)) * scale, n);
        }
        row_write(r, start, count, result);
    }
}

ROWS(softmax, 1)

#endif
