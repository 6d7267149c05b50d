/* The cross-correlation of images with filters (conv.h). */
#pragma once

#include "conv.h"

KERNEL(conv2d_float32) { return conv_run(context, layout, inputs, outputs); }
