/* activation(x @ weight^T + bias). The kernel receives weight, of shape (out, in), as the B of matrix.h, with its
 * strides exchanged.
 * parameters: activation, an index into the choices of the contract. */
#pragma once

#include "matrix.h"
#include "ops/gelu.h"
#include "ops/relu.h"
#include "ops/sigmoid.h"
#include "ops/silu.h"
#include "ops/tanh.h"

#define LINEAR_ACTIVATION(op)                                                                        \
    static void linear_##op(element *values, int64_t count) {                                        \
        for (int64_t i = 0; i < count; i += LANES) v_store(values + i, op_##op(v_load(values + i))); \
    }

LINEAR_ACTIVATION(relu)
LINEAR_ACTIVATION(gelu)
LINEAR_ACTIVATION(gelu_tanh)
LINEAR_ACTIVATION(silu)
LINEAR_ACTIVATION(sigmoid)
LINEAR_ACTIVATION(tanh)

ELEMENT_KERNEL(linear) {
    static gemm_activation *const activations[] = {NULL,        linear_relu,    linear_gelu, linear_gelu_tanh,
                                                   linear_silu, linear_sigmoid, linear_tanh};
    gemm product = matrix_product(layout, inputs, outputs, 1);
    product.activate = activations[parameters[0].i];
    return matrix_run(context, layout, &product, 1);
}
