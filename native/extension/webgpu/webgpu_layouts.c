/* Launches of convolution, pooling and attention, each with its own layout in webgpu/kinds. */
#include "lanewise_table.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"
#include <string.h>

enum {
    STRIP = 16,        /* extent of the strips of a tile along k */
    TILE = 64,         /* rows and columns of a tile */
    MIN_CHANNELS = 16, /* output channels of a group for which the tiles of a convolution are full enough */
    MAX_OUTPUTS = 4,   /* output channels that an invocation computes at once otherwise */
    MAX_TAPS = 8,      /* elements of a row of the window that it loads at once */
    BUSY_GROUPS = 512, /* workgroups of a convolution: with fewer than half as many, its products are divided */
    MIN_STEPS = 8      /* strips or channels of a part, at least */
};

/* Rounds of loops, for lw_webgpu_check_rounds. */
enum {
    WINDOW_ROUNDS = 16, /* of tiles, apart from those along k */
    TILE_ROUNDS = 12,   /* of attention for a tile of keys, apart from one for every 16 elements of the depth */
    WIDE_ROUNDS = 5,    /* in addition for 128 columns */
    KEYS_ROUNDS = 74,   /* the same for the tile of a single query, apart from one for each element of the depth */
    PASS_ROUNDS = 32    /* of attention before and after a pass over the keys */
};

/* LwWindowLayout of webgpu/kinds/window.wgsl. */
typedef struct windows {
    uint32_t offsets[LW_WGSL_OPERANDS];
    uint32_t scalars[LW_WGSL_OPERANDS];
    uint32_t strides[LW_WGSL_OPERANDS][4];
    uint32_t in_size[2], out_size[2], kernel_size[2], stride[2], padding[2], dilation[2];
    uint32_t out_channels, channels, outputs, count, parts, part, blocks, all_blocks, units;
} windows;

/* Divides the products of a weight into parts, if there are few workgroups: they have `length` steps of `step` channels
 * or products. Returns how many parts there are. */
static int64_t divide_window(lw_webgpu_launch *launch, int64_t groups, int64_t length, int64_t step) {
    windows *parameters = (windows *)launch->parameters;
    int64_t most = lw_shaders[launch->plan->kernel].scratch_bytes ? length / MIN_STEPS : 1;
    int64_t parts = BUSY_GROUPS / groups < most ? BUSY_GROUPS / groups : most;
    int64_t each = lw_divide_up(length, parts > 1 ? parts : 1);
    parts = lw_divide_up(length, each);
    parameters->parts = (uint32_t)parts;
    parameters->part = (uint32_t)(each * step);
    if (parts > 1) {
        lw_webgpu_bind_scratch(launch, parts * parameters->count * 4);
    }
    return parts;
}

void lw_webgpu_window(lw_webgpu_launch *launch) {
    const lw_window_layout *layout = &launch->plan->window;
    windows *parameters = (windows *)launch->parameters;
    int64_t count = layout->batch * layout->out_channels * layout->out_size[0] * layout->out_size[1];
    if (count > INT32_MAX) {
        lw_webgpu_refuse_size(launch);
        return;
    }
    launch->parameters[launch->plan->operation->input_count] = lw_webgpu_bind(launch, NULL);
    lw_webgpu_encode_scalars(launch->plan->operation, launch->plan->parameters, parameters->scalars);
    lw_webgpu_narrow(*parameters->strides, *layout->strides, LW_WGSL_OPERANDS * 4);
    lw_webgpu_narrow(parameters->in_size, layout->in_size, 2);
    lw_webgpu_narrow(parameters->out_size, layout->out_size, 2);
    lw_webgpu_narrow(parameters->kernel_size, layout->kernel_size, 2);
    lw_webgpu_narrow(parameters->stride, layout->stride, 2);
    lw_webgpu_narrow(parameters->padding, layout->padding, 2);
    lw_webgpu_narrow(parameters->dilation, layout->dilation, 2);
    parameters->out_channels = (uint32_t)layout->out_channels;
    parameters->channels = (uint32_t)(layout->in_channels / layout->groups);
    parameters->outputs = (uint32_t)(layout->out_channels / layout->groups);
    parameters->count = (uint32_t)count;
    int64_t rows = layout->kernel_size[0], columns = layout->kernel_size[1], channels = parameters->channels;
    if (lw_shaders[launch->plan->kernel].has_vectors && parameters->outputs >= MIN_CHANNELS &&
        launch->recorder->limits.tiles) {
        int64_t tiles = lw_divide_up(count / layout->out_channels, TILE);
        int64_t high = lw_divide_up(parameters->outputs, TILE) * layout->groups;
        int64_t parts = divide_window(launch, tiles * high, lw_divide_up(channels * rows * columns, STRIP), STRIP);
        launch->dispatch.entry = LW_ENTRY_TILES;
        lw_webgpu_set_groups(launch, tiles, lw_divide_up(parameters->outputs, TILE), layout->groups * parts);
        lw_webgpu_check_rounds(launch, tiles, launch->dispatch.groups[0], parameters->part / STRIP + WINDOW_ROUNDS);
        lw_webgpu_record(launch);
    } else {
        int64_t own = parameters->outputs < MAX_OUTPUTS ? parameters->outputs : MAX_OUTPUTS;
        int64_t blocks = lw_divide_up(parameters->outputs, own), units = count / parameters->outputs * blocks;
        int64_t taps = columns < MAX_TAPS ? columns : MAX_TAPS;
        int64_t parts = divide_window(launch, lw_divide_up(units, LW_WGSL_GROUP), channels, 1);
        int64_t groups = lw_webgpu_at_most(launch, lw_divide_up(units * parts, LW_WGSL_GROUP));
        parameters->blocks = (uint32_t)blocks;
        parameters->all_blocks = (uint32_t)(blocks * layout->groups);
        parameters->units = (uint32_t)units;
        launch->dispatch.variant = (uint32_t)(taps | own << 4);
        lw_webgpu_check_rounds(launch, units * parts, groups * LW_WGSL_GROUP,
                               parameters->part * (rows * (columns + 2) + 3) + 1);
        lw_webgpu_record_invocations(launch, units * parts);
    }
    if (parameters->parts > 1) {
        launch->dispatch.entry = LW_ENTRY_COMBINE;
        launch->dispatch.variant = 0;
        lw_webgpu_record_invocations(launch, count);
    }
}

enum {
    ATTENTION_NDIM = 4, /* dimensions of a batch in one dispatch */
    BUSY_TILES = 2048,  /* with fewer, keys are split; a causal mask leaves half of the parts empty */
    FEW_TILES = 256,    /* with fewer, into parts of a tile */
    MIN_KEYS = 256,     /* of other parts; with less, adding the parts costs more than it gains */
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
        for (int axis = 0; axis < layout->batch.ndim; axis++) {
            aligned &= layout->batch.strides[i][axis] % 16 == 0;
        }
    }
    return aligned;
}

/* Checks the loops of workgroups that share `count` queries or tiles of them, and take so many rounds for a tile of
 * keys in each pass over the keys. */
static void check_keys(lw_webgpu_launch *launch, int64_t count, int64_t keys, int64_t rounds, int64_t passes) {
    rounds = PASS_ROUNDS + passes * (PASS_ROUNDS + rounds * lw_divide_up(keys, TILE));
    lw_webgpu_check_rounds(launch, count, lw_webgpu_at_most(launch, count), rounds);
}

/* Records the dispatch that computes tiles of queries. If there are few, splits the keys, and records another one that
 * adds the parts. */
static void record_attention_tiles(lw_webgpu_launch *launch) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    int64_t rows = parameters->count, columns = layout->value_depth, seen = layout->last - layout->first + TILE;
    int64_t tiles = rows / layout->queries * lw_divide_up(layout->queries, TILE);
    int64_t width = columns > TILE ? 2 * TILE : TILE, passes = lw_divide_up(columns, width);
    seen = seen < layout->keys ? seen : layout->keys; /* by a tile */
    int64_t most = columns <= SPLIT_COLUMNS ? lw_divide_up(seen, tiles < FEW_TILES ? TILE : MIN_KEYS) : 1;
    int64_t parts = BUSY_TILES / tiles, keys = layout->keys;
    parts = parts < most ? parts : most;
    if (parts > 1) {
        keys = lw_divide_up(seen, TILE * parts) * TILE;
        parts = lw_divide_up(seen, keys);
    } else {
        parts = 1;
    }
    parameters->parts = (uint32_t)parts;
    parameters->part_keys = (uint32_t)keys;
    launch->dispatch.entry = LW_ENTRY_TILES;
    launch->dispatch.variant = (uint32_t)has_attention_vectors(launch) + (width > TILE ? 2 : 0);
    int64_t rounds = lw_divide_up(layout->depth, STRIP) + TILE_ROUNDS + (width > TILE ? WIDE_ROUNDS : 0);
    check_keys(launch, tiles * parts * passes, parts > 1 ? keys : seen, rounds, 1);
    if (parts > 1) {
        lw_webgpu_bind_scratch(launch, rows * parts * ((columns + 7) / 4) * 16);
    }
    lw_webgpu_record_groups(launch, tiles * parts * passes);
    if (parts > 1) {
        launch->dispatch.entry = LW_ENTRY_COMBINE;
        launch->dispatch.variant = 0;
        lw_webgpu_record_invocations(launch, rows * lw_divide_up(columns, 4));
    }
}

/* Records dispatches for each index of the batch's dimensions `axis` .. outer - 1. */
static void record_attention(lw_webgpu_launch *launch, int axis, int outer) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    if (axis == outer && launch->recorder->limits.tiles) {
        record_attention_tiles(launch);
        return;
    }
    if (axis == outer) {
        int64_t count = parameters->count, passes = lw_divide_up(layout->value_depth, 4 * TILE);
        check_keys(launch, count, layout->keys, layout->depth + KEYS_ROUNDS, passes);
        lw_webgpu_record_groups(launch, count);
        return;
    }
    attentions first = *parameters;
    for (int64_t index = 0; index < layout->batch.shape[axis] && launch->status == LW_OK; index++) {
        *parameters = first;
        for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
            parameters->offsets[i] += (uint32_t)(index * layout->batch.strides[i][axis]);
        }
        parameters->out += (uint32_t)(index * layout->batch.strides[LW_WGSL_OPERANDS][axis]);
        record_attention(launch, axis + 1, outer);
    }
}

/* A workgroup computes the result of a query, or of a tile of queries. */
void lw_webgpu_attention(lw_webgpu_launch *launch) {
    const lw_attention_layout *layout = &launch->plan->attention;
    attentions *parameters = (attentions *)launch->parameters;
    int outer = layout->batch.ndim > ATTENTION_NDIM ? (int)layout->batch.ndim - ATTENTION_NDIM : 0;
    int64_t count = layout->queries;
    parameters->batch_ndim = (uint32_t)(layout->batch.ndim - outer);
    for (uint32_t d = 0; d < parameters->batch_ndim; d++) {
        int axis = outer + (int)d;
        count *= layout->batch.shape[axis];
        parameters->batch_shape[d] = (uint32_t)layout->batch.shape[axis];
        parameters->out_strides[d] = (uint32_t)layout->batch.strides[LW_WGSL_OPERANDS][axis];
        for (int i = 0; i < LW_WGSL_OPERANDS; i++) {
            parameters->batch_strides[d][i] = (uint32_t)layout->batch.strides[i][axis];
        }
    }
    if (count * layout->value_depth > INT32_MAX || layout->keys > INT32_MAX) {
        lw_webgpu_refuse_size(launch);
        return;
    }
    parameters->out = lw_webgpu_bind(launch, parameters->numbers);
    lw_webgpu_narrow(parameters->row_strides, layout->row_strides, LW_WGSL_OPERANDS);
    lw_webgpu_narrow(parameters->column_strides, layout->column_strides, LW_WGSL_OPERANDS);
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
    record_attention(launch, 0, outer);
}
