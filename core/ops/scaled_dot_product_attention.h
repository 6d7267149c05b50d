/* Scaled dot-product attention (attention.h). */
#pragma once

#include "attention.h"

ELEMENT_KERNEL(scaled_dot_product_attention) { return attention_run(context, layout, inputs, outputs); }
