/* Attention (attention.h). */
#ifndef LANEWISE_OPS_SCALED_DOT_PRODUCT_ATTENTION_H
#define LANEWISE_OPS_SCALED_DOT_PRODUCT_ATTENTION_H

#include "attention.h"

static lw_status lw_scaled_dot_product_attention_float32(lw_context *context, const void *layout,
                                                         const void *const *inputs, void *const *outputs,
                                                         const lw_scalar *parameters) {
    (void)parameters;
    return attention_run(context, layout, inputs, outputs);
}

#endif
