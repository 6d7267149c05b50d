/* Launches of matrix products. webgpu/kinds/matrix/matrix.wgsl has their layout, and the other files matrix*.wgsl the
 * entry points between which the launcher chooses. */
#include "lanewise_table.h"
#include "python/errors.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"
#include <string.h>

enum {
    PART_MULTIPLE = 16,      /* parts of k are multiples of it, so that they start at whole vectors and strips */
    BLOCK = 64,              /* rows and columns that a workgroup of `main` computes */
    THIN = 4,                /* rows or columns for which tiles would be mostly empty */
    MIN_DEPTH = 128,         /* of a part of k: with less, adding the parts costs more than it gains */
    MAX_DEPTH = 1 << 15,     /* of a part of k: lavapipe ends loops after 2^16 rounds of an invocation */
    BUSY_GROUPS = 384,       /* workgroups of 128 invocations that keep a GPU busy; with fewer, k is split */
    COLUMNS = 32,            /* of C, that a workgroup of `columns` computes */
    MIN_DOT_DEPTH = 1 << 13, /* of a part of a dot product */
    MAX_DOT_DEPTH = 1 << 26, /* 2^15 rounds of an invocation */
    BUSY_DOTS = 2048         /* dot products that keep a GPU busy */
};

/* Rounds of loops for 16 indices along k, for lw_webgpu_check_rounds, apart from a few at the beginning and the end. */
enum { BLOCK_ROUNDS = 28, TILE_ROUNDS = 1, COLUMN_ROUNDS = 1, DOT_ROUNDS = 1, OTHER_ROUNDS = 64 };

/* lw_access of webgpu/kinds/matrix/matrix_vectors.wgsl: bits, and above them the binary logarithm of the size of a
 * team. */
enum { B_ALONG_K = 1, A_ALONG_M = 2, A_ELEMENTWISE = 4, B_ELEMENTWISE = 8, TEAM_SHIFT = 4 };

/* LwMatrixLayout of webgpu/kinds/matrix/matrix.wgsl. */
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

/* Returns how far elements are from each other along a dimension; repeated ones are not contiguous. */
static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride ? stride : INT64_MAX; }

/* Returns whether operand `i` is contiguous along one dimension, whose stride is `inner`, and at multiples of 16 bytes
 * along all others. */
static int has_vectors(const lw_webgpu_launch *launch, int i, int64_t inner, int64_t outer) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int aligned = inner == 4 && outer % 16 == 0 && launch->parameters[i] % 16 == 0;
    for (int axis = 0; axis < layout->batch.ndim; axis++) {
        aligned &= layout->batch.strides[i][axis] % 16 == 0;
    }
    return aligned;
}

/* Returns whether four elements of a row of the result can be written at once. */
static int has_result_vectors(const lw_webgpu_launch *launch) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int out = launch->plan->operation->input_count;
    return layout->n % 4 == 0 && has_vectors(launch, out, layout->column_strides[out], layout->row_strides[out]);
}

/* Returns whether A is read along k, because its stride is smaller there; otherwise, it is read along m. */
static int is_a_along_k(const lw_matrix_layout *layout) {
    return layout->m == 1 || (layout->k > 1 && distance(layout->column_strides[0]) <= distance(layout->row_strides[0]));
}

/* Returns whether B is read along k; otherwise, it is read along n. */
static int is_b_along_k(const lw_matrix_layout *layout) {
    return layout->n == 1 || (layout->k > 1 && distance(layout->row_strides[1]) < distance(layout->column_strides[1]));
}

/* Splits k into `parts`, or fewer, of which each is a multiple of PART_MULTIPLE. Returns how many. */
static int64_t split(matrices *parameters, int64_t parts) {
    int64_t k = parameters->k;
    parameters->depth = (uint32_t)(lw_divide_up(k, PART_MULTIPLE * parts) * PART_MULTIPLE);
    return parameters->parts = (uint32_t)(parts > 1 ? lw_divide_up(k, parameters->depth) : 1);
}

/* Returns into how many parts to split k, where `groups` workgroups compute one. */
static int64_t parts_of(int64_t groups, int64_t k) {
    int64_t fewest = lw_divide_up(k, MAX_DEPTH), most = k / MIN_DEPTH, parts = BUSY_GROUPS / (groups ? groups : 1);
    parts = parts < most ? parts : most;
    return parts > fewest ? parts : fewest > 1 ? fewest : 1;
}

/* Records the dispatch for a product whose k is not split, if the device can run its loops. */
static void record_whole(lw_webgpu_launch *launch, int64_t rounds) {
    int64_t k = ((const matrices *)launch->parameters)->k;
    lw_webgpu_check_rounds(launch, 1, 1, lw_divide_up(k, 16) * rounds + OTHER_ROUNDS);
    lw_webgpu_record(launch);
}

/* Records the dispatch that writes `count` elements of products of parts to scratch memory, then one of `entry`, which
 * adds the parts, with the override `variant`. */
static void record_parts(lw_webgpu_launch *launch, int64_t count, lw_entry entry, uint32_t variant, int64_t groups) {
    lw_webgpu_bind_scratch(launch, count * 4);
    lw_webgpu_record(launch);
    launch->dispatch.entry = entry;
    launch->dispatch.variant = variant;
    lw_webgpu_record_groups(launch, groups);
}

/* Records a product, as a whole or in parts that `entry` adds, each a matrix whose rows start at multiples of four
 * elements. */
static void record_product(lw_webgpu_launch *launch, int in_parts, lw_entry entry, int64_t rounds) {
    const matrices *parameters = (const matrices *)launch->parameters;
    int64_t rows = (int64_t)parameters->batch * parameters->m, pitch = (parameters->n + 3) & ~(int64_t)3;
    int64_t invocations = entry == LW_ENTRY_VECTORS ? parameters->count / 4 : parameters->count;
    if (in_parts) {
        record_parts(launch, rows * pitch * parameters->parts, entry, 0, lw_divide_up(invocations, LW_WGSL_GROUP));
    } else {
        record_whole(launch, rounds);
    }
}

/* Returns the binary logarithm of how many invocations, a team, compute a dot product: 1, 8 or 64. */
static int log2_team_size(int64_t k) { return k < 16 ? 0 : k < 256 ? 3 : 6; }

/* Returns whether C has so few rows or columns that it is better computed as dot products. Neighbors in teams of one
 * compute neighboring elements, so their operands may be contiguous along any dimension. */
static int suits_dots(const lw_matrix_layout *layout) {
    int has_few_rows = layout->m <= THIN, has_few_columns = layout->n <= THIN;
    return (has_few_rows || has_few_columns) &&
           (log2_team_size(layout->k) == 0 ||
            ((has_few_rows || is_a_along_k(layout)) && (has_few_columns || is_b_along_k(layout))));
}

static void record_dots(lw_webgpu_launch *launch, int can_split) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    matrices *parameters = (matrices *)launch->parameters;
    int a_has_vectors = has_vectors(launch, 0, layout->column_strides[0], layout->m > 1 ? layout->row_strides[0] : 0);
    int b_has_vectors = has_vectors(launch, 1, layout->row_strides[1], layout->n > 1 ? layout->column_strides[1] : 0);
    int team = log2_team_size(layout->k);
    int64_t count = parameters->count, k = parameters->k, dots = LW_WGSL_GROUP >> team; /* of a workgroup */
    int64_t fewest = lw_divide_up(k, MAX_DOT_DEPTH), most = k / MIN_DOT_DEPTH, parts = BUSY_DOTS / count;
    parts = parts < most ? parts : most;
    parts = split(parameters, !can_split ? 1 : parts > fewest ? parts : fewest);
    uint32_t variant =
        (uint32_t)(A_ELEMENTWISE * !a_has_vectors + B_ELEMENTWISE * !b_has_vectors + (team << TEAM_SHIFT));
    launch->dispatch.variant = variant;
    launch->dispatch.entry = LW_ENTRY_DOTS;
    lw_webgpu_set_groups(launch, lw_divide_up(count * parts, dots), 1, 1);
    if (parts > 1) {
        record_parts(launch, count * parts, LW_ENTRY_SUMS, variant, lw_divide_up(count, dots));
    } else {
        record_whole(launch, DOT_ROUNDS);
    }
}

/* Returns whether A has few rows, and B is read along n. */
static int suits_columns(const lw_matrix_layout *layout) { return layout->m <= THIN && !is_b_along_k(layout); }

static void record_columns(lw_webgpu_launch *launch, int can_split) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    matrices *parameters = (matrices *)launch->parameters;
    int b_has_vectors = has_vectors(launch, 1, layout->column_strides[1], layout->row_strides[1]);
    int64_t groups = lw_divide_up(parameters->n, COLUMNS), batch = parameters->batch;
    int64_t parts = split(parameters, can_split ? parts_of(groups * batch, parameters->k) : 1);
    launch->dispatch.variant = (uint32_t)(B_ELEMENTWISE * !b_has_vectors);
    launch->dispatch.entry = LW_ENTRY_COLUMNS;
    lw_webgpu_set_groups(launch, groups, 1, batch * parts);
    record_product(launch, parts > 1, LW_ENTRY_COMBINE, COLUMN_ROUNDS);
}

/* Returns how many workgroups compute a matrix of a product by a tile. */
static int64_t groups_of(const lw_matrix_layout *layout, const lw_tile *tile) {
    return lw_divide_up(layout->m, tile->rows) * lw_divide_up(layout->n, tile->columns);
}

/* Returns how many elements the tiles of a matrix have, those beyond its edges included. */
static int64_t tiled_elements(const lw_matrix_layout *layout, const lw_tile *tile) {
    return groups_of(layout, tile) * tile->rows * tile->columns;
}

/* Returns whether a tile is faster than the first one for a product that takes `groups` workgroups. WebGPU reports
 * neither registers nor the number of cores, so what holds for one GPU has to do: on an NVIDIA H200 (132 cores), 64x128
 * is the fastest for square matrices of 1024 and 4096 rows, and 128x256 for those of 2048, which take one wave of
 * workgroups; if B is read along k, 128x128 is from 2048 rows on. */
static int is_faster(const lw_tile *tile, int64_t groups, int b_along_k) {
    int has_columns = tile->columns == (b_along_k ? 128 : 256), is_one_wave = 100 <= groups && groups <= 132;
    return tile->rows == 128 && has_columns && (b_along_k ? groups >= 200 : is_one_wave);
}

/* Returns the number of the tile for a product: the fastest for its size, unless that computes a quarter more elements
 * than another one does, because of the edges. */
static int tile_of(const lw_webgpu_launch *launch, int64_t batch, int b_along_k) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    int chosen = 0, best = 0;
    for (int i = 1; i < lw_tile_count; i++) {
        if (lw_tiles[i].bytes <= launch->recorder->limits.workgroup_bytes) {
            chosen = is_faster(&lw_tiles[i], batch * groups_of(layout, &lw_tiles[i]), b_along_k) ? i : chosen;
            best = tiled_elements(layout, &lw_tiles[i]) < tiled_elements(layout, &lw_tiles[best]) ? i : best;
        }
    }
    int64_t least = tiled_elements(layout, &lw_tiles[best]);
    return tiled_elements(layout, &lw_tiles[chosen]) <= least / 4 * 5 ? chosen : best;
}

static void record_tiles(lw_webgpu_launch *launch, int can_split) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    matrices *parameters = (matrices *)launch->parameters;
    const int64_t *rows = layout->row_strides, *columns = layout->column_strides;
    int64_t batch = parameters->batch, k = layout->k;
    int a_along_k = is_a_along_k(layout), b_along_k = is_b_along_k(layout), writes_vectors = has_result_vectors(launch);
    /* The first strip is shorter if k is not a multiple of its extent, which moves the others along k. */
    int a_has_vectors = a_along_k ? k % 4 == 0 && has_vectors(launch, 0, columns[0], rows[0])
                                  : has_vectors(launch, 0, rows[0], columns[0]);
    int b_has_vectors = b_along_k ? k % 4 == 0 && has_vectors(launch, 1, rows[1], columns[1])
                                  : has_vectors(launch, 1, columns[1], rows[1]);
    int number = tile_of(launch, batch, b_along_k);
    const lw_tile *tile = &lw_tiles[number];
    int64_t across = lw_divide_up(layout->n, tile->columns), down = lw_divide_up(layout->m, tile->rows);
    int64_t groups = across * down * batch * tile->invocations / 128;
    int64_t parts = split(parameters, can_split ? parts_of(groups, k) : 1);
    int in_parts = parts > 1 || !writes_vectors;
    launch->dispatch.variant = (uint32_t)(B_ALONG_K * b_along_k + A_ALONG_M * !a_along_k +
                                          A_ELEMENTWISE * !a_has_vectors + B_ELEMENTWISE * !b_has_vectors);
    launch->dispatch.entry = (uint32_t)(LW_ENTRY_MATRIX_TILES + 2 * number + in_parts);
    lw_webgpu_set_groups(launch, across, down, batch * parts);
    record_product(launch, in_parts, writes_vectors ? LW_ENTRY_VECTORS : LW_ENTRY_COMBINE, TILE_ROUNDS);
}

/* Any dtype, any sources of the inputs. */
static void record_blocks(lw_webgpu_launch *launch, int can_split) {
    matrices *parameters = (matrices *)launch->parameters;
    int64_t across = lw_divide_up(parameters->n, BLOCK), down = lw_divide_up(parameters->m, BLOCK),
            batch = parameters->batch;
    int64_t k = parameters->k, parts = split(parameters, can_split ? parts_of(across * down * batch, k) : 1);
    launch->dispatch.variant = 0;
    launch->dispatch.entry = parts > 1 ? LW_ENTRY_BLOCKS : LW_ENTRY_MAIN;
    lw_webgpu_set_groups(launch, across, down, batch * parts);
    record_product(launch, parts > 1, LW_ENTRY_COMBINE, BLOCK_ROUNDS);
}

/* Returns whether A and B are read from buffers, and no input from that of the result. */
static int has_matrices_apart(const lw_webgpu_launch *launch) {
    int count = launch->plan->operation->input_count;
    for (int i = 0; i < count; i++) {
        uint32_t source = launch->dispatch.sources >> (2 * i) & 3;
        if (source == LW_FROM_RESULT || (i < 2 && source != LW_FROM_BUFFER)) {
            return 0;
        }
    }
    return 1;
}

/* Records a product by the entry point that suits its shape. Without `can_split`, needs no scratch memory. */
static void record(lw_webgpu_launch *launch, int can_split) {
    const lw_matrix_layout *layout = &launch->plan->matrix;
    if (!lw_shaders[launch->plan->kernel].has_vectors || layout->k == 0 || !has_matrices_apart(launch)) {
        record_blocks(launch, can_split);
    } else if (suits_dots(layout)) {
        record_dots(launch, can_split);
    } else if (suits_columns(layout)) {
        record_columns(launch, can_split);
    } else if (launch->recorder->limits.tiles && (can_split || has_result_vectors(launch))) {
        record_tiles(launch, can_split);
    } else {
        record_blocks(launch, can_split);
    }
}

void lw_webgpu_matrix(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    const lw_matrix_layout *layout = &plan->matrix;
    matrices *parameters = (matrices *)launch->parameters;
    int64_t batch = 1, m = layout->m, n = layout->n, k = layout->k;
    for (int axis = 0; axis < layout->batch.ndim; axis++) {
        batch *= layout->batch.shape[axis];
    }
    if (batch * m * n > INT32_MAX || batch * m * k > INT32_MAX || batch * k * n > INT32_MAX) {
        lw_webgpu_refuse_size(launch);
        return;
    }
    lw_webgpu_narrow(parameters->batch_shape, layout->batch.shape, layout->batch.ndim);
    lw_webgpu_narrow_strides(parameters->batch_strides, layout->batch.strides, LW_WGSL_OPERANDS, layout->batch.ndim);
    lw_webgpu_narrow(parameters->row_strides, layout->row_strides, LW_WGSL_OPERANDS);
    lw_webgpu_narrow(parameters->column_strides, layout->column_strides, LW_WGSL_OPERANDS);
    launch->parameters[plan->operation->input_count] = lw_webgpu_bind(launch, NULL);
    lw_webgpu_encode_scalars(plan->operation, plan->parameters, parameters->scalars);
    parameters->m = (uint32_t)m;
    parameters->n = (uint32_t)n;
    parameters->k = (uint32_t)k;
    parameters->batch_ndim = (uint32_t)layout->batch.ndim;
    parameters->batch = (uint32_t)batch;
    parameters->count = (uint32_t)(batch * m * n);
    record(launch, 1);
    if (launch->status == LW_INTERRUPTED && PyErr_ExceptionMatches(lw_error_class(LW_OUT_OF_MEMORY_ERROR))) {
        PyErr_Clear(); /* a product that is not split takes longer, but no further memory */
        launch->status = LW_OK;
        record(launch, 0);
    }
}
