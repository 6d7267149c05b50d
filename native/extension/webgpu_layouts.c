/* Launches of kernels of matrices, windows and attention, each with its own layout in webgpu/kinds. */
#include "lanewise_table.h"
#include "shader.h"
#include "webgpu_launch.h"
#include <string.h>

enum {
    STRIP = 16,          /* parts of k are multiples of it */
    TILE = 64,           /* rows and columns of a tile; that of float32 matrices has 128 columns */
    DOTS = 4,            /* dot products that a workgroup computes at once */
    SKINNY = 4,          /* rows or columns for which tiles would be mostly empty */
    GROUPS = 384,        /* workgroups that keep a GPU busy; with fewer tiles, k is split */
    LEAST_DEPTH = 128,   /* of a part of k: with less, adding the parts costs more than it gains */
    LEAST_CHANNELS = 8,  /* output channels of a group for which the tiles of a convolution are full enough */
    LEAST_QUERIES = 8,   /* the same for attention */
    MOST_DEPTH = 1 << 15 /* lavapipe ends loops after 2^16 rounds of an invocation */
};

/* Rounds of loops, for lw_webgpu_check_rounds. */
enum {
    WINDOW_ROUNDS = 16, /* of tiles, apart from those along k */
    TILE_ROUNDS = 12,   /* of attention for a tile of keys, apart from one for every 16 elements of the depth */
    KEYS_ROUNDS = 74,   /* the same for the tile of a single query, apart from one for each element of the depth */
    PASS_ROUNDS = 32    /* of attention before and after a pass over the keys */
};

/* LwMatrixLayout of webgpu/kinds/matrix.wgsl. */
typedef struct matrices {
    uint32_t offsets[LW_WGSL_OPERANDS];
    uint32_t scalars[LW_WGSL_OPERANDS];
    uint32_t row_strides[LW_WGSL_OPERANDS];
    uint32_t column_strides[LW_WGSL_OPERANDS];
    uint32_t batch_shape[LW_MAX_NDIM];
    uint32_t batch_strides[LW_MAX_NDIM][LW_WGSL_OPERANDS];
    uint32_t m, n, k, batch_ndim, batch, parts, depth, count;
} matrices;

_Static_assert(sizeof(matrices) <= sizeof(uint32_t) * LW_PARAMETER_WORDS, "the parameters must have room");

/* Returns the number of parts into which to split k. */
static int64_t parts_of(int64_t tiles, int64_t k) {
    int64_t least = (k + MOST_DEPTH - 1) / MOST_DEPTH, most = k / LEAST_DEPTH, parts = GROUPS / tiles;
    parts = parts < most ? parts : most;
    return parts > least ? parts : least > 1 ? least : 1;
}

/* Returns whether operand `i` is at multiples of 16 bytes along all dimensions but `inner`, along which it is
 * contiguous. */
static int has_vectors_along(const lw_webgpu_launch *launch, int i, int64_t inner, int64_t outer) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int aligned = inner == 4 && outer % 16 == 0 && launch->parameters[i] % 16 == 0;
    for (int axis = 0; axis < layout->batch_ndim; axis++) {
        aligned &= layout->batch_strides[i][axis] % 16 == 0;
    }
    return aligned;
}

/* Returns whether no input shares the buffer of the result, or is a number. */
static int has_matrices_apart(const lw_webgpu_launch *launch) {
    return (launch->dispatch.sources & 15) == 0 && launch->dispatch.sources >> 4 != LW_FROM_RESULT;
}

/* Returns whether the kernel for dot products can compute the product, and keeps enough invocations busy. */
static int can_use_dots(const lw_webgpu_launch *launch, int64_t batch) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int64_t m = layout->m, n = layout->n, k = layout->k;
    return lw_shaders[launch->plan->kernel].has_vectors && has_matrices_apart(launch) && (m <= SKINNY || n <= SKINNY) &&
           k > 0 && k % 4 == 0 && batch * m * n * MOST_DEPTH >= k &&
           has_vectors_along(launch, 0, layout->column_strides[0], m > 1 ? layout->row_strides[0] : 0) &&
           has_vectors_along(launch, 1, layout->row_strides[1], n > 1 ? layout->column_strides[1] : 0);
}

/* Returns whether the kernel for few rows of A and contiguous rows of B can compute the product. */
static int can_use_columns(const lw_webgpu_launch *launch) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    return lw_shaders[launch->plan->kernel].has_vectors && has_matrices_apart(launch) && layout->m <= SKINNY &&
           layout->k > 0 && layout->n % 4 == 0 &&
           has_vectors_along(launch, 1, layout->column_strides[1], layout->row_strides[1]);
}

static int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Returns whether the kernel for tiles of 64 x 128 elements can compute the product. Sets `variant` to its override
 * lw_transposed. */
static int can_use_tiles(const lw_webgpu_launch *launch, uint32_t *variant) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    const int64_t *rows = layout->row_strides, *columns = layout->column_strides;
    int a_is_transposed = magnitude(rows[0]) < magnitude(columns[0]);
    int b_is_transposed = magnitude(rows[1]) < magnitude(columns[1]);
    int has_vectors = layout->k % 4 == 0 &&
                      (a_is_transposed ? layout->m % 4 == 0 && has_vectors_along(launch, 0, rows[0], columns[0])
                                       : has_vectors_along(launch, 0, columns[0], rows[0])) &&
                      (b_is_transposed ? has_vectors_along(launch, 1, rows[1], columns[1])
                                       : layout->n % 4 == 0 && has_vectors_along(launch, 1, columns[1], rows[1]));
    *variant = (uint32_t)(b_is_transposed + 2 * a_is_transposed + 4 * !has_vectors);
    return lw_shaders[launch->plan->kernel].has_vectors && has_matrices_apart(launch) && layout->k > 0 &&
           launch->recorder->limits.tiles;
}

/* Returns whether four elements of a row of the result can be written at once. */
static int has_result_vectors(const lw_webgpu_launch *launch) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int out = launch->plan->operation->input_count;
    return layout->n % 4 == 0 && has_vectors_along(launch, out, layout->column_strides[out], layout->row_strides[out]);
}

/* Records the dispatches that compute the products of parts, and add them. */
static lw_status record_parts(lw_webgpu_launch *launch, int64_t rows, int64_t parts, int64_t batch) {
    int64_t n = launch->plan->matrix.n;
    int has_vectors = launch->dispatch.entry == LW_ENTRY_TILE_PARTS && has_result_vectors(launch);
    lw_storage *scratch = lw_webgpu_bind_scratch(launch, rows * ((n + 3) & ~(int64_t)3) * parts * 4);
    if (!scratch) {
        return LW_INTERRUPTED; /* with an error set */
    }
    launch->dispatch.groups[2] = lw_webgpu_at_most(launch, batch * parts);
    lw_status status = lw_webgpu_record(launch);
    launch->dispatch.entry = has_vectors ? LW_ENTRY_VECTORS : LW_ENTRY_COMBINE;
    launch->dispatch.groups[1] = launch->dispatch.groups[2] = 1;
    status = status == LW_OK ? lw_webgpu_record_invocations(launch, has_vectors ? rows * n / 4 : rows * n) : status;
    lw_storage_release(scratch);
    return status;
}

/* Splits k into `parts`, or fewer, of which each is a multiple of STRIP. Returns how many. */
static int64_t split(matrices *parameters, int64_t parts) {
    int64_t k = parameters->k;
    parameters->depth = (uint32_t)((k + STRIP * parts - 1) / (STRIP * parts) * STRIP);
    return parameters->parts = (uint32_t)(parts > 1 ? (k + parameters->depth - 1) / parameters->depth : 1);
}

static lw_status record_columns(lw_webgpu_launch *launch, int64_t batch) {
    enum { COLUMNS = 32 /* of a workgroup */ };
    matrices *parameters = (matrices *)launch->parameters;
    int64_t groups = (parameters->n + COLUMNS - 1) / COLUMNS;
    int64_t parts = split(parameters, parts_of(groups * batch, parameters->k));
    launch->dispatch.groups[0] = lw_webgpu_at_most(launch, groups);
    launch->dispatch.groups[2] = lw_webgpu_at_most(launch, batch);
    return parts > 1 ? record_parts(launch, batch * parameters->m, parts, batch) : lw_webgpu_record(launch);
}

lw_status lw_webgpu_matrix(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    const lw_matrix_layout *layout = &plan->matrix;
    matrices *parameters = (matrices *)launch->parameters;
    int64_t batch = 1;
    for (int axis = 0; axis < layout->batch_ndim; axis++) {
        batch *= layout->batch_shape[axis];
        parameters->batch_shape[axis] = (uint32_t)layout->batch_shape[axis];
        for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
            parameters->batch_strides[axis][i] = (uint32_t)layout->batch_strides[i][axis];
        }
    }
    for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
        parameters->row_strides[i] = (uint32_t)layout->row_strides[i];
        parameters->column_strides[i] = (uint32_t)layout->column_strides[i];
    }
    int64_t m = layout->m, n = layout->n, k = layout->k;
    if (batch * m * n > INT32_MAX || batch * m * k > INT32_MAX || batch * k * n > INT32_MAX) {
        return lw_webgpu_refuse_size(launch);
    }
    launch->parameters[launch->plan->operation->input_count] = lw_webgpu_bind(launch, NULL);
    lw_webgpu_encode_scalars(plan->operation, plan->parameters, parameters->scalars);
    parameters->m = (uint32_t)m;
    parameters->n = (uint32_t)n;
    parameters->k = (uint32_t)k;
    parameters->batch_ndim = (uint32_t)layout->batch_ndim;
    parameters->batch = (uint32_t)batch;
    parameters->count = (uint32_t)(batch * m * n);
    if (can_use_dots(launch, batch)) {
        launch->dispatch.entry = LW_ENTRY_DOTS;
        return lw_webgpu_record_groups(launch, (batch * m * n + DOTS - 1) / DOTS);
    }
    if (can_use_columns(launch)) {
        launch->dispatch.entry = LW_ENTRY_COLUMNS;
        return record_columns(launch, batch);
    }
    int uses_tiles = can_use_tiles(launch, &launch->dispatch.variant), width = uses_tiles ? 2 * TILE : TILE;
    int64_t columns = (n + width - 1) / width, rows = (m + TILE - 1) / TILE,
            parts = split(parameters, parts_of(columns * rows * batch, k));
    int in_parts = parts > 1 || (uses_tiles && !has_result_vectors(launch));
    if (uses_tiles) {
        launch->dispatch.entry = in_parts ? LW_ENTRY_TILE_PARTS : LW_ENTRY_TILES;
    } else {
        launch->dispatch.variant = 0;
        launch->dispatch.entry = in_parts ? LW_ENTRY_BLOCKS : LW_ENTRY_MAIN;
    }
    launch->dispatch.groups[0] = lw_webgpu_at_most(launch, columns);
    launch->dispatch.groups[1] = lw_webgpu_at_most(launch, rows);
    launch->dispatch.groups[2] = lw_webgpu_at_most(launch, batch);
    return in_parts ? record_parts(launch, batch * m, parts, batch) : lw_webgpu_record(launch);
}

/* LwWindowLayout of webgpu/kinds/window.wgsl. */
typedef struct windows {
    uint32_t offsets[LW_WGSL_OPERANDS];
    uint32_t scalars[LW_WGSL_OPERANDS];
    uint32_t strides[LW_WGSL_OPERANDS][4];
    uint32_t in_size[2], out_size[2], kernel_size[2], stride[2], padding[2], dilation[2];
    uint32_t out_channels, channels, outputs, count;
} windows;

lw_status lw_webgpu_window(lw_webgpu_launch *launch) {
    const lw_window_layout *layout = &launch->plan->window;
    windows *parameters = (windows *)launch->parameters;
    int64_t count = layout->batch * layout->out_channels * layout->out_size[0] * layout->out_size[1];
    if (count > INT32_MAX) {
        return lw_webgpu_refuse_size(launch);
    }
    launch->parameters[launch->plan->operation->input_count] = lw_webgpu_bind(launch, NULL);
    lw_webgpu_encode_scalars(launch->plan->operation, launch->plan->parameters, parameters->scalars);
    for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
        for (int axis = 0; axis < 4; axis++) {
            parameters->strides[i][axis] = (uint32_t)layout->strides[i][axis];
        }
    }
    for (int axis = 0; axis < 2; axis++) {
        parameters->in_size[axis] = (uint32_t)layout->in_size[axis];
        parameters->out_size[axis] = (uint32_t)layout->out_size[axis];
        parameters->kernel_size[axis] = (uint32_t)layout->kernel_size[axis];
        parameters->stride[axis] = (uint32_t)layout->stride[axis];
        parameters->padding[axis] = (uint32_t)layout->padding[axis];
        parameters->dilation[axis] = (uint32_t)layout->dilation[axis];
    }
    parameters->out_channels = (uint32_t)layout->out_channels;
    parameters->channels = (uint32_t)(layout->in_channels / layout->groups);
    parameters->outputs = (uint32_t)(layout->out_channels / layout->groups);
    parameters->count = (uint32_t)count;
    int64_t rows = layout->kernel_size[0], columns = layout->kernel_size[1], channels = parameters->channels;
    if (lw_shaders[launch->plan->kernel].has_vectors && parameters->outputs >= LEAST_CHANNELS &&
        launch->recorder->limits.tiles) {
        int64_t tiles = (count / layout->out_channels + TILE - 1) / TILE;
        launch->dispatch.entry = LW_ENTRY_TILES;
        launch->dispatch.groups[0] = lw_webgpu_at_most(launch, tiles);
        launch->dispatch.groups[1] = lw_webgpu_at_most(launch, (parameters->outputs + TILE - 1) / TILE);
        launch->dispatch.groups[2] = lw_webgpu_at_most(launch, layout->groups);
        lw_status status = lw_webgpu_check_rounds(launch, tiles, launch->dispatch.groups[0],
                                                  channels * rows * columns / STRIP + WINDOW_ROUNDS);
        return status == LW_OK ? lw_webgpu_record(launch) : status;
    }
    int64_t groups = lw_webgpu_at_most(launch, (count + LW_WGSL_GROUP - 1) / LW_WGSL_GROUP);
    lw_status status =
        lw_webgpu_check_rounds(launch, count, groups * LW_WGSL_GROUP, channels * (rows * (columns + 2) + 3) + 1);
    return status == LW_OK ? lw_webgpu_record_invocations(launch, count) : status;
}

enum {
    ATTENTION_NDIM = 4, /* dimensions of a batch in one dispatch */
    BUSY_TILES = 2048,  /* with fewer, keys are split; a causal mask leaves half of the parts empty */
    LEAST_KEYS = 256,   /* of a part; with less, adding the parts costs more than it gains */
    SPLIT_COLUMNS = 128 /* most columns of values with split keys, so that scratch memory is at most 70 MB */
};

/* LwAttentionLayout of webgpu/kinds/attention.wgsl. */
typedef struct attentions {
    uint32_t offsets[LW_WGSL_OPERANDS]; /* of the inputs; `out` has that of the result */
    uint32_t row_strides[LW_WGSL_OPERANDS];
    uint32_t column_strides[LW_WGSL_OPERANDS];
    uint32_t batch_shape[ATTENTION_NDIM];
    uint32_t batch_strides[ATTENTION_NDIM][LW_WGSL_OPERANDS];
    uint32_t out_strides[ATTENTION_NDIM];
    uint32_t out, out_row_stride, out_column_stride, scale; /* the scale is a float32 */
    uint32_t queries, keys, depth, value_depth, first, last, batch_ndim, count;
    uint32_t numbers[LW_WGSL_OPERANDS][2];
    uint32_t parts, part_keys;
} attentions;

_Static_assert(sizeof(attentions) <= sizeof(uint32_t) * LW_PARAMETER_WORDS, "the parameters must have room");

/* Returns whether the rows of query, key and value are contiguous and start at multiples of 16 bytes. */
static int has_attention_vectors(const lw_webgpu_launch *launch) {
    const lw_attention_layout *layout = &launch->plan->attention;
    int aligned = (launch->dispatch.sources & 63) == 0 && layout->depth % STRIP == 0 && layout->value_depth % 4 == 0;
    for (int i = 0; i < 3; i++) {
        aligned &=
            layout->column_strides[i] == 4 && layout->row_strides[i] % 16 == 0 && launch->parameters[i] % 16 == 0;
        for (int axis = 0; axis < layout->batch_ndim; axis++) {
            aligned &= layout->batch_strides[i][axis] % 16 == 0;
        }
    }
    return aligned;
}

/* Checks the loops of workgroups that share `count` queries or tiles of them, and take so many rounds for a tile of
 * keys in each pass over the keys. */
static lw_status check_keys(lw_webgpu_launch *launch, int64_t count, int64_t keys, int64_t rounds, int64_t passes) {
    rounds = PASS_ROUNDS + passes * (PASS_ROUNDS + rounds * ((keys + TILE - 1) / TILE));
    return lw_webgpu_check_rounds(launch, count, lw_webgpu_at_most(launch, count), rounds);
}

/* Records the dispatch that computes tiles of queries. If there are few, splits the keys, and records another one that
 * adds the parts. */
static lw_status record_attention_tiles(lw_webgpu_launch *launch) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    int64_t rows = parameters->count, columns = layout->value_depth, seen = layout->last - layout->first + TILE;
    int64_t tiles = rows / layout->queries * ((layout->queries + TILE - 1) / TILE);
    seen = seen < layout->keys ? seen : layout->keys; /* by a tile */
    int64_t most = columns <= SPLIT_COLUMNS ? seen / LEAST_KEYS : 1, parts = BUSY_TILES / tiles, keys = layout->keys;
    parts = parts < most ? parts : most;
    if (parts > 1) {
        keys = (seen + TILE * parts - 1) / (TILE * parts) * TILE;
        parts = (seen + keys - 1) / keys;
    } else {
        parts = 1;
    }
    parameters->parts = (uint32_t)parts;
    parameters->part_keys = (uint32_t)keys;
    launch->dispatch.entry = LW_ENTRY_TILES;
    launch->dispatch.variant = (uint32_t)has_attention_vectors(launch);
    int64_t rounds = (layout->depth + STRIP - 1) / STRIP + TILE_ROUNDS, passes = (columns + TILE - 1) / TILE;
    lw_status status = check_keys(launch, tiles * parts, parts > 1 ? keys : seen, rounds, passes);
    if (status != LW_OK || parts == 1) {
        return status == LW_OK ? lw_webgpu_record_groups(launch, tiles) : status;
    }
    lw_storage *scratch = lw_webgpu_bind_scratch(launch, rows * parts * ((columns + 7) / 4) * 16);
    if (!scratch) {
        return LW_INTERRUPTED; /* with an error set */
    }
    status = lw_webgpu_record_groups(launch, tiles * parts);
    launch->dispatch.entry = LW_ENTRY_COMBINE;
    launch->dispatch.variant = 0;
    status = status == LW_OK ? lw_webgpu_record_invocations(launch, rows * ((columns + 3) / 4)) : status;
    lw_storage_release(scratch);
    return status;
}

/* Records dispatches for each index of the batch's dimensions `axis` .. outer - 1. */
static lw_status record_attention(lw_webgpu_launch *launch, int axis, int outer) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    if (axis == outer && layout->queries >= LEAST_QUERIES && launch->recorder->limits.tiles) {
        return record_attention_tiles(launch);
    }
    if (axis == outer) {
        int64_t count = parameters->count, passes = (layout->value_depth + 4 * TILE - 1) / (4 * TILE);
        lw_status status = check_keys(launch, count, layout->keys, layout->depth + KEYS_ROUNDS, passes);
        return status == LW_OK ? lw_webgpu_record_groups(launch, count) : status;
    }
    attentions first = *parameters;
    lw_status status = LW_OK;
    for (int64_t index = 0; index < layout->batch_shape[axis] && status == LW_OK; index++) {
        *parameters = first;
        for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
            parameters->offsets[i] += (uint32_t)(index * layout->batch_strides[i][axis]);
        }
        parameters->out += (uint32_t)(index * layout->batch_strides[LW_WGSL_OPERANDS][axis]);
        status = record_attention(launch, axis + 1, outer);
    }
    return status;
}

/* A workgroup computes the result of a query, or of a tile of queries. */
lw_status lw_webgpu_attention(lw_webgpu_launch *launch) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    int outer = layout->batch_ndim > ATTENTION_NDIM ? (int)layout->batch_ndim - ATTENTION_NDIM : 0;
    int64_t count = layout->queries;
    parameters->batch_ndim = (uint32_t)(layout->batch_ndim - outer);
    for (uint32_t d = 0; d < parameters->batch_ndim; d++) {
        int axis = outer + (int)d;
        count *= layout->batch_shape[axis];
        parameters->batch_shape[d] = (uint32_t)layout->batch_shape[axis];
        parameters->out_strides[d] = (uint32_t)layout->batch_strides[LW_WGSL_OPERANDS][axis];
        for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
            parameters->batch_strides[d][i] = (uint32_t)layout->batch_strides[i][axis];
        }
    }
    if (count * layout->value_depth > INT32_MAX || layout->keys > INT32_MAX) {
        return lw_webgpu_refuse_size(launch);
    }
    parameters->out = lw_webgpu_bind(launch, parameters->numbers);
    for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
        parameters->row_strides[i] = (uint32_t)layout->row_strides[i];
        parameters->column_strides[i] = (uint32_t)layout->column_strides[i];
    }
    parameters->out_row_stride = (uint32_t)layout->row_strides[LW_WGSL_OPERANDS];
    parameters->out_column_stride = (uint32_t)layout->column_strides[LW_WGSL_OPERANDS];
    float scale = (float)layout->scale;
    memcpy(&parameters->scale, &scale, sizeof scale);
    parameters->queries = (uint32_t)layout->queries;
    parameters->keys = (uint32_t)layout->keys;
    parameters->depth = (uint32_t)layout->depth;
    parameters->value_depth = (uint32_t)layout->value_depth;
    parameters->first = (uint32_t)layout->first;
    parameters->last = (uint32_t)layout->last;
    parameters->count = (uint32_t)count;
    return record_attention(launch, 0, outer);
}
