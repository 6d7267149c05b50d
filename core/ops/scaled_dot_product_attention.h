/* Scaled dot-product attention (attention.h). */
#pragma once

#include "attention.h"

static lw_status lw_scaled_dot_product_attention_float32(lw_context *context, const void *layout,
                                                         const void *const *inputs, void *const *outputs,
                                                         const lw_scalar *parameters) {
    return attention_run(context, layout, inputs, outputs);
}
