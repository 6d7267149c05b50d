/* Launches of convolution, pooling and attention, each with its own layout in webgpu/kinds. */
#include "lanewise_table.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"
#include <string.h>

enum {
    STRIP = 16,       /* extent of the strips of a tile along k */
    TILE = 64,        /* rows and columns of a tile */
    MIN_CHANNELS = 8, /* output channels of a group for which the tiles of a convolution are full enough */
    MIN_QUERIES = 8   /* the same for attention */
};

/* Rounds of loops, for lw_webgpu_check_rounds. */
enum {
    WINDOW_ROUNDS = 16, /* of tiles, apart from those along k */
    TILE_ROUNDS = 12,   /* of attention for a tile of keys, apart from one for every 16 elements of the depth */
    KEYS_ROUNDS = 74,   /* the same for the tile of a single query, apart from one for each element of the depth */
    PASS_ROUNDS = 32    /* of attention before and after a pass over the keys */
};

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
    if (lw_shaders[launch->plan->kernel].has_vectors && parameters->outputs >= MIN_CHANNELS &&
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
    MIN_KEYS = 256,     /* of a part; with less, adding the parts costs more than it gains */
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
    int64_t most = columns <= SPLIT_COLUMNS ? seen / MIN_KEYS : 1, parts = BUSY_TILES / tiles, keys = layout->keys;
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
    if (axis == outer && layout->queries >= MIN_QUERIES && launch->recorder->limits.tiles) {
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
