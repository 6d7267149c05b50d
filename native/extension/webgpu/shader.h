/* What the extension knows about WGSL modules. The code generator writes the tables (lanewise_shaders.c). */
#pragma once

#include "visibility.h"
#include <stdint.h>

typedef struct lw_shader {
    uint8_t exists;
    uint8_t scratch_bytes; /* size of the partial result of one block, in a reduction */
    uint8_t has_vectors;   /* whether there is an entry point for contiguous operands */
} lw_shader;

/* A tile of a product of float32 matrices, which a workgroup computes. */
typedef struct lw_tile {
    const char *name; /* as in those of its entry points, "64x128" */
    uint16_t rows, columns, invocations;
    uint16_t bytes; /* of workgroup memory */
} lw_tile;

LW_HIDDEN const lw_shader lw_shaders[]; /* indexed like lw_kernels */
LW_HIDDEN const lw_tile lw_tiles[];
LW_HIDDEN const int lw_tile_count;
