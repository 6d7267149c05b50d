/* Matrix products for every index of a batch. core/ops/matmul.h and linear.h define their kernels with matrix_run. */
#pragma once

#include "gemm/gemm_packed.h"

typedef struct matrix_batch {
    const lw_layout *layout; /* the dimensions of the batch; its operands are A, B, bias, C */
    gemm product;            /* the product for the first index of the batch */
    int64_t count, per_task;
} matrix_batch;

static lw_status matrix_products(lw_context *context, const matrix_batch *batch, int64_t first, int64_t end) {
    layout_iterator it;
    iterator_start(&it, batch->layout, 0, batch->layout->ndim, 4, first);
    for (int64_t i = first; i < end; i++, iterator_next(&it)) {
        gemm g = batch->product;
        g.a += it.offset[0];
        g.b += it.offset[1];
        if (g.bias) {
            g.bias += it.offset[2];
        }
        g.c += it.offset[3];
        lw_status status = gemm_run(context, &g);
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

static lw_status matrix_task(lw_context *context, int64_t task, const void *argument) {
    const matrix_batch *batch = argument;
    int64_t first = task * batch->per_task;
    return matrix_products(context, batch, first, min_int64(first + batch->per_task, batch->count));
}

/* Returns the product for the first index of the batch. The layout's operands are A, B, the bias if `has_bias` (its
 * pointer may still be NULL), and C. */
static gemm matrix_product(const lw_matrix_layout *layout, const void *const *inputs, void *const *outputs,
                           int has_bias) {
    const int64_t *row = layout->row_strides, *column = layout->column_strides;
    int result = has_bias ? 3 : 2;
    gemm g = {
        .m = layout->m,
        .n = layout->n,
        .k = layout->k,
        .a = inputs[0],
        .b = inputs[1],
        .c = outputs[0],
        .a_row = row[0],
        .a_column = column[0],
        .b_row = row[1],
        .b_column = column[1],
        .c_row = row[result],
        .c_column = column[result],
    };
    if (has_bias && inputs[2]) {
        g.bias = inputs[2];
        g.bias_row = row[2];
        g.bias_column = column[2];
    }
    /* Along an extent of 1, any stride is right. Use that of contiguous elements, which enables the fast paths. */
    if (g.k == 1) {
        g.a_column = g.b_row = sizeof(element);
    }
    if (g.n == 1) {
        g.b_column = g.c_column = sizeof(element);
    }
    return g;
}

static lw_status matrix_run(lw_context *context, const lw_matrix_layout *layout, const gemm *product, int has_bias) {
    lw_layout batch = layout->batch;
    for (int32_t d = 0; d < batch.ndim && !has_bias; d++) {
        batch.strides[3][d] = batch.strides[2][d];
        batch.strides[2][d] = 0;
    }
    matrix_batch all = {.layout = &batch, .product = *product};
    gemm *g = &all.product;
    /* Merge dimensions of the batch along which B stays the same into the rows of A and C, if the strides allow it. */
    if (g->m == 1 && batch.ndim) {
        g->a_row = batch.strides[0][batch.ndim - 1];
        g->c_row = batch.strides[3][batch.ndim - 1];
    }
    for (int32_t d = batch.ndim - 1;
         d >= 0 && batch.strides[1][d] == 0 && batch.strides[0][d] == g->m * g->a_row &&
         batch.strides[3][d] == g->m * g->c_row && batch.strides[2][d] == 0 && (g->bias == NULL || g->bias_row == 0);
         d--) {
        PATH("matrix: merges a dimension of the batch into rows");
        g->m *= batch.shape[d];
        batch.ndim = d;
    }
    all.count = layout_count(&batch, 0, batch.ndim);
    double work = gemm_work(g);
    if (work >= (all.count < GEMM_MANY_PRODUCTS ? GEMM_SMALL_WORK : GEMM_LARGE_WORK)) {
        PATH("matrix: one product after another");
        return matrix_products(context, &all, 0, all.count);
    }
    all.per_task = items_per_task(context, all.count, 1);
    return run_tasks(context, divide_up(all.count, all.per_task), matrix_task, &all);
}
