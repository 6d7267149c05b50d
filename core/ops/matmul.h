/* The matrix product. */
#pragma once

#include "gemm/gemm_int32.h"
#include "matrix.h"

KERNEL(matmul_float32) {
    gemm product = matrix_product(layout, inputs, outputs, 0);
    return matrix_run(context, layout, &product, 0, gemm_run);
}

KERNEL(matmul_int32) {
    gemm product = matrix_product(layout, inputs, outputs, 0);
    return matrix_run(context, layout, &product, 0, gemm_int32_run);
}
