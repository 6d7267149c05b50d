/* The eigenvalues and eigenvectors of symmetric matrices (eigen.h), as two outputs. */
#pragma once

#include "eigen.h"

static lw_status lw_eigh_float32(lw_context *context, const void *layout, const void *const *inputs,
                                 void *const *outputs, const lw_scalar *parameters) {
    return eigen_of_symmetric(context, layout, inputs[0], outputs[0], outputs[1]);
}
