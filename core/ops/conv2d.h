/* The cross-correlation of images with filters (conv.h). */
#pragma once

#include "conv.h"

static lw_status lw_conv2d_float32(lw_context *context, const void *layout, const void *const *inputs,
                                   void *const *outputs, const lw_scalar *parameters) {
    return conv_run(context, layout, inputs, outputs);
}
