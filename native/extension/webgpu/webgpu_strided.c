/* Launches of kernels whose layout is strided: LwLayout of webgpu/kinds/layout.wgsl. */
#include "lanewise_operations.h"
#include "lanewise_table.h"
#include "math/double.h"
#include "python/errors.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"
#include <string.h>

enum {
    BLOCK = 4096,  /* elements of a block of a reduction */
    TEAMS = 16,    /* blocks that a workgroup reduces at once, if they are contiguous */
    VECTORS = 8,   /* of a row that an invocation holds in registers, at most */
    ROW_TEAM = 64, /* invocations that compute a short row */
    SHORT_ROW = 4 * VECTORS * ROW_TEAM,
    ROW_ROUNDS = 64,                         /* of loops for a row, apart from those over its elements */
    VECTOR_ROW = 4 * VECTORS * LW_WGSL_GROUP /* elements of the longest row that a workgroup holds in registers */
};

static const double TURN = 6.283185307179586;

/* LwLayout. Offsets and strides are in bytes modulo 2^32. */
typedef struct strided {
    uint32_t offsets[LW_WGSL_OPERANDS];
    uint32_t scalars[LW_WGSL_OPERANDS];
    uint32_t shape[LW_MAX_NDIM];
    uint32_t strides[LW_MAX_NDIM][LW_WGSL_OPERANDS];
    uint32_t count, packed, outer, ndim, length, blocks;
    uint32_t numbers[LW_WGSL_OPERANDS - 1][2];
    uint32_t teams;
} strided;

_Static_assert(sizeof(strided) <= sizeof(uint32_t) * LW_PARAMETER_WORDS, "the parameters of a dispatch must have room");

static strided *parameters_of(lw_webgpu_launch *launch) { return (strided *)launch->parameters; }

/* Returns whether the elements of an operand are contiguous and start at a word boundary, so that whole words of them
 * can be written. */
static int fills_words(const lw_layout *layout, int operand, uint32_t offset, int64_t item) {
    int64_t step = item;
    for (int axis = layout->ndim - 1; axis >= 0; axis--) {
        if (layout->shape[axis] != 1 && layout->strides[operand][axis] != step) {
            return 0;
        }
        step *= layout->shape[axis];
    }
    return offset % 4 == 0;
}

/* Binds the operands, and fills in the parameters. */
static void fill_parameters(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    const lw_layout *layout = &plan->layout;
    strided *parameters = parameters_of(launch);
    int inputs = plan->operation->input_count;
    int64_t count = 1, length = 1;
    for (int axis = 0; axis < layout->ndim; axis++) {
        *(axis < layout->ndim - layout->inner ? &count : &length) *= layout->shape[axis];
    }
    if (count * length > INT32_MAX) {
        lw_webgpu_refuse_size(launch);
    }
    lw_webgpu_narrow(parameters->shape, layout->shape, layout->ndim);
    lw_webgpu_narrow_strides(parameters->strides, layout->strides, inputs + 1, layout->ndim);
    parameters->offsets[inputs] = lw_webgpu_bind(launch, parameters->numbers);
    lw_webgpu_encode_scalars(plan->operation, plan->parameters, parameters->scalars);
    parameters->count = (uint32_t)count;
    parameters->outer = (uint32_t)(layout->ndim - layout->inner);
    parameters->ndim = (uint32_t)layout->ndim;
    parameters->length = (uint32_t)length;
    parameters->blocks = (uint32_t)lw_divide_up(length, BLOCK);
    parameters->packed = (uint32_t)fills_words(layout, inputs, parameters->offsets[inputs], lw_item_size(plan->dtype));
}

/* Records a dispatch with an invocation for each word of the result, but not more than one for each element. */
static void record_elements(lw_webgpu_launch *launch, int64_t item) {
    const strided *parameters = parameters_of(launch);
    launch->dispatch.variant = parameters->ndim;
    lw_webgpu_record_invocations(launch, lw_divide_up(parameters->count, item < 4 ? 4 / item : 1));
}

/* Returns whether all operands are contiguous, or numbers, and start where four of their elements can be read at
 * once. */
static int can_use_vectors(const lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    const lw_layout *layout = &plan->layout;
    int inputs = plan->operation->input_count, fits = layout->ndim == 1 && lw_shaders[plan->kernel].has_vectors;
    for (int i = 0; i <= inputs && fits; i++) {
        int64_t item = lw_item_size(i < inputs ? plan->operands[i].dtype : plan->dtype);
        int is_number = i < inputs && lw_is_number(&plan->operands[i]);
        fits = is_number || (layout->strides[i][0] == item && launch->parameters[i] % (4 * item) == 0);
    }
    return fits;
}

void lw_webgpu_elementwise(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    int uses_vectors = can_use_vectors(launch);
    launch->dispatch.entry = uses_vectors ? LW_ENTRY_VECTORS : LW_ENTRY_MAIN;
    record_elements(launch, uses_vectors ? 1 : lw_item_size(launch->plan->dtype));
}

/* Returns whether the rows of an operand are contiguous, and start at multiples of 16 bytes. */
static int has_vector_rows(const lw_webgpu_launch *launch, int operand) {
    const lw_layout *layout = &launch->plan->layout;
    int fits = layout->inner == 1 && launch->parameters[operand] % 16 == 0;
    for (int axis = 0; axis < layout->ndim - 1 && fits; axis++) {
        fits = layout->shape[axis] == 1 || layout->strides[operand][axis] % 16 == 0;
    }
    return fits && layout->strides[operand][layout->ndim - 1] == 4;
}

/* Rows whose elements are contiguous need one dispatch if they have up to TEAMS blocks, others if they have one. For
 * longer rows, the results of TEAMS blocks or of one go to scratch memory and are combined. */
void lw_webgpu_reduction(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    int64_t count = parameters_of(launch)->count, blocks = parameters_of(launch)->blocks, teams = 1;
    int uses_vectors = lw_shaders[launch->plan->kernel].has_vectors;
    uses_vectors = uses_vectors && blocks > 0 && launch->dispatch.sources == 0 && has_vector_rows(launch, 0);
    while (uses_vectors && teams < blocks && teams < TEAMS) {
        teams *= 2;
    }
    parameters_of(launch)->teams = (uint32_t)teams;
    int64_t results = lw_divide_up(blocks, teams), groups = count * (results > 1 ? results : 1);
    if (results > 1) {
        lw_webgpu_bind_scratch(launch, count * results * lw_shaders[launch->plan->kernel].scratch_bytes);
    }
    launch->dispatch.entry = uses_vectors ? LW_ENTRY_VECTORS : results > 1 ? LW_ENTRY_BLOCKS : LW_ENTRY_MAIN;
    lw_webgpu_record_groups(launch, uses_vectors ? lw_divide_up(groups * teams, TEAMS) : groups);
    if (results > 1) {
        launch->dispatch.entry = LW_ENTRY_COMBINE;
        lw_webgpu_record_groups(launch, count);
    }
}

/* Returns whether the rows and the results have contiguous elements that fit the registers of a workgroup. */
static int has_short_vector_rows(const lw_webgpu_launch *launch) {
    const lw_layout *layout = &launch->plan->layout;
    int64_t length = layout->ndim > 0 ? layout->shape[layout->ndim - 1] : 0;
    uint32_t first = launch->dispatch.sources & 3;
    for (uint32_t others = launch->dispatch.sources >> 2; others; others >>= 2) {
        if ((others & 3) == LW_FROM_RESULT) {
            return 0;
        }
    }
    return lw_shaders[launch->plan->kernel].has_vectors && (first == LW_FROM_BUFFER || first == LW_FROM_RESULT) &&
           length > 0 && length % 4 == 0 && length <= VECTOR_ROW && has_vector_rows(launch, 0) &&
           has_vector_rows(launch, launch->plan->operation->input_count);
}

/* A workgroup computes a row, or in prefix sums a block of one. If rows have several blocks, their sums go to scratch
 * memory and are combined first. */
void lw_webgpu_rows(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    int64_t count = parameters_of(launch)->count, blocks = parameters_of(launch)->blocks;
    int64_t length = parameters_of(launch)->length, scratch_bytes = lw_shaders[launch->plan->kernel].scratch_bytes;
    if (has_short_vector_rows(launch)) {
        launch->dispatch.entry = LW_ENTRY_VECTORS;
        int64_t team = length <= SHORT_ROW ? ROW_TEAM : LW_WGSL_GROUP, rows = LW_WGSL_GROUP / team; /* of a workgroup */
        launch->dispatch.variant = (uint32_t)(lw_divide_up(length, 4 * team) + (rows > 1 ? 2 * VECTORS : 0));
        lw_webgpu_record_groups(launch, lw_divide_up(count, rows));
        return;
    }
    if (!scratch_bytes) { /* up to three passes over the row */
        int64_t rounds = 3 * (length / LW_WGSL_GROUP) + ROW_ROUNDS;
        lw_webgpu_check_rounds(launch, count, lw_webgpu_at_most(launch, count), rounds);
    } else if (blocks > 1) {
        lw_webgpu_bind_scratch(launch, count * blocks * scratch_bytes);
        launch->dispatch.entry = LW_ENTRY_BLOCKS;
        lw_webgpu_record_groups(launch, count * blocks);
        launch->dispatch.entry = LW_ENTRY_COMBINE;
        lw_webgpu_record_groups(launch, count);
        launch->dispatch.entry = LW_ENTRY_MAIN;
        count *= blocks;
    }
    lw_webgpu_record_groups(launch, count);
}

/* put first finds the last of equal indices, in scratch memory with a word for each position along the axis. */
static void record_put(lw_webgpu_launch *launch, int64_t extent) {
    lw_webgpu_bind_scratch(launch, extent * 4);
    launch->dispatch.entry = LW_ENTRY_CLEAR;
    lw_webgpu_record_invocations(launch, extent);
    launch->dispatch.entry = LW_ENTRY_CLAIM;
    record_elements(launch, 4);
    launch->dispatch.entry = LW_ENTRY_MAIN;
    record_elements(launch, 4);
}

/* take and put: the scalars are the extent and the stride of the axis. */
void lw_webgpu_gather(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    fill_parameters(launch);
    parameters_of(launch)->scalars[0] = (uint32_t)plan->parameters[0].i;
    parameters_of(launch)->scalars[1] = (uint32_t)plan->parameters[1].i;
    if (plan->operation == &lw_operations[LW_OPERATION_put]) {
        record_put(launch, plan->parameters[0].i);
    } else {
        record_elements(launch, lw_item_size(plan->dtype));
    }
}

/* Creation kernels receive the bits of their parameters. */
void lw_webgpu_creation(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    fill_parameters(launch);
    memcpy(parameters_of(launch)->numbers, plan->parameters, sizeof parameters_of(launch)->numbers);
    int uses_vectors = can_use_vectors(launch);
    launch->dispatch.entry = uses_vectors ? LW_ENTRY_VECTORS : LW_ENTRY_MAIN;
    record_elements(launch, uses_vectors ? 1 : lw_item_size(plan->dtype));
}

/* The scalars are the length of the row, its stride, and whether equal elements are before a value. */
void lw_webgpu_search(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    for (int i = 0; i < 3; i++) {
        parameters_of(launch)->scalars[i] = (uint32_t)launch->plan->parameters[i].i;
    }
    record_elements(launch, 4);
}

/* rope: an invocation rotates a pair. The angles follow from two numbers, in float64: the angle of the first pair at
 * position 1, in turns, and the ratio of the angles of two pairs (core/ops/rope.h). */
void lw_webgpu_rotation(lw_webgpu_launch *launch) {
    enum { THETA, OFFSET, PAIRS, SCALING, FACTOR }; /* the parameters, in the contract's order */
    const lw_scalar *given = launch->plan->parameters;
    const lw_layout *layout = &launch->plan->layout;
    strided *parameters = parameters_of(launch);
    fill_parameters(launch);
    double depth = (double)layout->shape[layout->ndim - 1], step = -2 / depth * double_log(given[THETA].f);
    double numbers[2] = {1 / TURN, 0};
    if (given[SCALING].i == 0) {
        numbers[0] /= given[FACTOR].f;
    } else {
        step -= 2 / (depth - 2) * double_log(given[FACTOR].f);
    }
    numbers[1] = double_exp(step);
    memcpy(parameters->numbers, numbers, sizeof numbers);
    parameters->scalars[0] = (uint32_t)given[OFFSET].i;
    parameters->scalars[1] = (uint32_t)given[PAIRS].i;
    parameters->count = parameters->count * parameters->length / 2;
    lw_webgpu_record_invocations(launch, parameters->count);
}
