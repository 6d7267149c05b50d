/* The matrix product. */
#pragma once

#include "gemm/gemm_int32.h"
#include "matrix.h"

static lw_status lw_matmul_float32(lw_context *context, const void *layout, const void *const *inputs,
                                   void *const *outputs, const lw_scalar *parameters) {
    gemm product = matrix_product(layout, inputs, outputs, 0);
    return matrix_run(context, layout, &product, 0, gemm_run);
}

static lw_status lw_matmul_int32(lw_context *context, const void *layout, const void *const *inputs,
                                 void *const *outputs, const lw_scalar *parameters) {
    gemm product = matrix_product(layout, inputs, outputs, 0);
    return matrix_run(context, layout, &product, 0, gemm_int32_run);
}
