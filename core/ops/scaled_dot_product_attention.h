/* Scaled dot-product attention (attention.h). */
#pragma once

#include "attention.h"

KERNEL(scaled_dot_product_attention_float32) { return attention_run(context, layout, inputs, outputs); }
