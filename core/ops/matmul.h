/* The matrix product. */
#pragma once

#include "matrix.h"

ELEMENT_KERNEL(matmul) {
    gemm product = matrix_product(layout, inputs, outputs, 0);
    return matrix_run(context, layout, &product, 0);
}
