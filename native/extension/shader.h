/* What the extension knows about WGSL modules. The code generator writes the table (lanewise_shaders.c). */
#pragma once

#include "visibility.h"
#include <stdint.h>

typedef struct lw_shader {
    uint8_t exists;
    uint8_t scratch_bytes; /* size of the partial result of one block, in a reduction */
    uint8_t has_vectors;   /* whether there is an entry point for contiguous operands */
} lw_shader;

LW_HIDDEN const lw_shader lw_shaders[]; /* indexed like lw_kernels */
