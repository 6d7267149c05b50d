/* The eigenvalues of symmetric matrices (eigen.h). */
#pragma once

#include "eigen.h"

static lw_status lw_eigvalsh_float32(lw_context *context, const void *layout, const void *const *inputs,
                                     void *const *outputs, const lw_scalar *parameters) {
    return eigen_of_symmetric(context, layout, inputs[0], outputs[0], NULL);
}
