/* The cross-correlation of images with filters (conv.h). */
#pragma once

#include "conv.h"

ELEMENT_KERNEL(conv2d) { return conv_run(context, layout, inputs, outputs); }
