/* Launches of kernels whose layout is strided: LwLayout of webgpu/kinds/layout.wgsl. */
#include "lanewise_operations.h"
#include "lanewise_table.h"
#include "math/double.h"
#include "python/errors.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"
#include <stdlib.h>
#include <string.h>

enum {
    WORD = 4,             /* bytes of the least that is stored at once */
    VECTOR = 4,           /* elements of a vector */
    BLOCK = 4096,         /* elements of a block of a reduction */
    TEAMS = 16,           /* blocks that a workgroup reduces at once, if they are contiguous */
    PARTIALS = 64,        /* results that a block is reduced to first */
    OWN_PARTIALS = 8,     /* of an invocation */
    MANY_OWN = 1024,      /* elements, at most, of columns that one invocation reduces each, */
    MANY_ROWS = 1 << 18,  /* and columns, at least, for that */
    FEW_BLOCKS = 1 << 14, /* that more invocations share, so that they keep the device busy */
    LARGE_TEAM = 32,
    SHORT_REDUCTION = 128, /* elements of a row that is not read as vectors */
    VECTORS = 8,           /* of a row that an invocation holds in registers, at most */
    ROW_TEAM = 64,         /* invocations that share a short row, at most */
    SECTOR = 8,            /* numbers of 4 bytes in the least that is read from memory at once */
    SCAN_TILE = 64,
    SCAN_TILES = 64,   /* that a workgroup scans at once */
    SCAN_COLUMNS = 16, /* adjacent rows that a workgroup scans at once, at most */
    SCAN_TURNS = 4,    /* scans of a workgroup, one after another, from which on they may be divided among several */
    SCAN_GROUPS = 128, /* workgroups from which on they are not */
    SCAN_BLOCKS = 1024,
    FEW_ROWS = 100,    /* workgroups: with fewer, long rows are divided, */
    ROW_GROUPS = 1024, /* for so many */
    ROW_STAGES = 4,    /* of divided rows, of which the first is 0 */
    ROW_ROUNDS = 64    /* of loops for a row, apart from those over its elements */
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
    uint32_t teams, team, pitch;
} strided;

_Static_assert(sizeof(strided) <= sizeof(uint32_t) * LW_PARAMETER_WORDS, "the parameters of a dispatch must have room");

static strided *parameters_of(lw_webgpu_launch *launch) { return (strided *)launch->parameters; }

/* Returns how many words the rows of an operand along the last dimension may touch, 0 if its elements are not narrower
 * than a word or not contiguous there. */
static int64_t words_of_row(const lw_layout *layout, int operand, int64_t item) {
    int last = layout->ndim - 1;
    int is_packed = item < WORD && last >= 0 && layout->strides[operand][last] == item;
    return is_packed ? (layout->shape[last] * item + 2 * (WORD - 1)) / WORD : 0;
}

/* Returns what lw_sources says about the dtype of a converted operand: lw_narrow and lw_is_other. */
static uint32_t narrow_source(int dtype) {
    int is_other = dtype == LW_BFLOAT16 || dtype == LW_BOOL || dtype == LW_UINT8 || dtype == LW_UINT16;
    return (lw_item_size(dtype) == 1 ? 0x200u : 0x100u) | (is_other ? 0x400u : 0);
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
    launch->dispatch.sources |= layout->converted & 1 ? narrow_source(plan->operands[0].dtype) : 0;
    lw_webgpu_encode_scalars(plan->operation, plan->parameters, parameters->scalars);
    parameters->count = (uint32_t)count;
    parameters->outer = (uint32_t)(layout->ndim - layout->inner);
    parameters->ndim = (uint32_t)layout->ndim;
    parameters->length = (uint32_t)length;
    parameters->blocks = (uint32_t)lw_divide_up(length, BLOCK);
    parameters->packed = (uint32_t)words_of_row(layout, inputs, lw_item_size(plan->dtype));
}

/* Records a dispatch with an invocation for each four elements of the result. Narrow ones count with those of other
 * rows that are in the same words. */
static void record_elements(lw_webgpu_launch *launch) {
    const lw_layout *layout = &launch->plan->layout;
    const strided *parameters = parameters_of(launch);
    int64_t invocations = lw_divide_up(parameters->count, VECTOR);
    if (launch->dispatch.entry == LW_ENTRY_MAIN && parameters->packed) {
        int64_t words = parameters->count / layout->shape[layout->ndim - 1] * parameters->packed;
        invocations = lw_divide_up(words * WORD / lw_item_size(launch->plan->dtype), VECTOR);
    }
    launch->dispatch.variant = parameters->ndim;
    lw_webgpu_record_invocations(launch, invocations);
}

/* Does the same for the entry point that computes one element of each quarter of a dimension at once. That is the
 * longest one, of which rounding wastes the least. Narrow results are computed four adjacent ones at once. */
static void record_quarters(lw_webgpu_launch *launch) {
    const lw_layout *layout = &launch->plan->layout;
    strided *parameters = parameters_of(launch);
    if (lw_item_size(launch->plan->dtype) < WORD) {
        record_elements(launch);
        return;
    }
    int longest = 0;
    for (int axis = 1; axis < layout->ndim; axis++) {
        longest = layout->shape[axis] > layout->shape[longest] ? axis : longest;
    }
    int64_t extent = layout->ndim ? layout->shape[longest] : 1, quarter = lw_divide_up(extent, VECTOR);
    parameters->outer = (uint32_t)longest;
    parameters->length = (uint32_t)extent;
    parameters->shape[longest] = (uint32_t)quarter;
    parameters->count = (uint32_t)(parameters->count / extent * quarter);
    launch->dispatch.variant = parameters->ndim;
    lw_webgpu_record_invocations(launch, parameters->count);
}

/* Returns whether vectors along the last dimension can be read from an operand, or written to it. An input may also
 * repeat one element there. `stride` is a further distance between its elements. */
static int has_vectors(const lw_webgpu_launch *launch, int operand, int64_t stride) {
    const lw_plan *plan = launch->plan;
    const lw_layout *layout = &plan->layout;
    int is_input = operand < plan->operation->input_count, last = layout->ndim - 1;
    int64_t item = lw_item_size(is_input ? plan->operands[operand].dtype : plan->dtype);
    const int64_t *strides = layout->strides[operand];
    if (is_input && strides[last] == 0) {
        return 1;
    }
    int fits = strides[last] == item && launch->parameters[operand] % (VECTOR * item) == 0;
    for (int axis = 0; axis < last; axis++) {
        fits = fits && strides[axis] % (VECTOR * item) == 0;
    }
    return fits && stride % (VECTOR * item) == 0;
}

/* Records the entry point for vectors along the last dimension, if all operands have them. `stride` is as above, of the
 * first. */
static void record_vectors(lw_webgpu_launch *launch, int64_t stride) {
    const lw_layout *layout = &launch->plan->layout;
    strided *parameters = parameters_of(launch);
    int inputs = launch->plan->operation->input_count, last = layout->ndim - 1;
    int fits = last >= 0 && lw_shaders[launch->plan->kernel].has_vectors;
    fits = fits && (last == 0 || layout->shape[last] % VECTOR == 0);
    for (int i = 0; i <= inputs && fits; i++) {
        fits = has_vectors(launch, i, i == 0 ? stride : 0);
    }
    if (fits) {
        launch->dispatch.entry = LW_ENTRY_VECTORS;
        parameters->shape[last] = (uint32_t)lw_divide_up(layout->shape[last], VECTOR);
        for (int i = 0; i <= inputs; i++) {
            parameters->strides[last][i] *= VECTOR;
        }
        record_elements(launch);
    } else {
        record_quarters(launch);
    }
}

void lw_webgpu_elementwise(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    record_vectors(launch, 0);
}

/* Returns whether the rows of an operand are contiguous, and start where four of their elements can be read at once. */
static int has_vector_rows(const lw_webgpu_launch *launch, int operand) {
    const lw_plan *plan = launch->plan;
    const lw_layout *layout = &plan->layout;
    int is_input = operand < plan->operation->input_count;
    int64_t item = lw_item_size(is_input ? plan->operands[operand].dtype : plan->dtype);
    int fits = layout->inner == 1 && launch->parameters[operand] % (4 * item) == 0;
    for (int axis = 0; axis < layout->ndim - 1 && fits; axis++) {
        fits = layout->shape[axis] == 1 || layout->strides[operand][axis] % (4 * item) == 0;
    }
    return fits && layout->strides[operand][layout->ndim - 1] == item;
}

/* Returns how many invocations share `count` elements, of which each has `own`: a power of two up to a workgroup. */
static int64_t team_of(int64_t count, int64_t own) {
    int64_t team = 1;
    while (team < LW_WGSL_GROUP && team * own < count) {
        team *= 2;
    }
    return team;
}

/* Returns how many rows neighboring invocations may have: several if the elements of the first operand are closer to
 * each other across rows than along them. */
static int64_t adjacent_rows(const lw_webgpu_launch *launch) {
    const lw_layout *layout = &launch->plan->layout;
    int last = layout->ndim - 1, across = last - layout->inner;
    const int64_t *strides = layout->strides[0];
    int is_across = across >= 0 && strides[across] && llabs(strides[across]) < llabs(strides[last]);
    return is_across ? team_of(layout->shape[across], 1) : 1;
}

/* Lets `team` invocations share each row. */
static void set_team(lw_webgpu_launch *launch, int64_t team) {
    int64_t rows = adjacent_rows(launch), most = LW_WGSL_GROUP / team;
    parameters_of(launch)->team = (uint32_t)team;
    parameters_of(launch)->pitch = (uint32_t)(rows < most ? rows : most);
}

/* Returns how many invocations share a block: few enough that each has several of the partial results, which are
 * combined in the contract's order. Of a maximum, an index or integers, any order gives the same, so if rows are
 * adjacent and many, each invocation has a whole one. */
static int64_t reduction_team(lw_webgpu_launch *launch, int64_t units) {
    const lw_operation *operation = launch->plan->operation;
    int64_t length = parameters_of(launch)->length;
    int is_exact = operation->kind == LW_KIND_INDEX_REDUCTION || !lw_is_floating(launch->plan->operands[0].dtype) ||
                   operation == &lw_operations[LW_OPERATION_max] || operation == &lw_operations[LW_OPERATION_min];
    if (is_exact && length <= MANY_OWN && units >= MANY_ROWS && adjacent_rows(launch) > 1) {
        return 1;
    }
    if (units < FEW_BLOCKS && length >= 4 * PARTIALS) {
        return LARGE_TEAM;
    }
    return team_of(length < PARTIALS ? length : PARTIALS, OWN_PARTIALS);
}

/* Contiguous rows that are not short are read as vectors, and need one dispatch if they have up to TEAMS blocks, others
 * if they have one. For longer rows, the results of TEAMS blocks or of one go to scratch memory and are combined. */
void lw_webgpu_reduction(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    strided *parameters = parameters_of(launch);
    int64_t count = parameters->count, blocks = parameters->blocks, length = parameters->length, teams = 1;
    int uses_vectors = lw_shaders[launch->plan->kernel].has_vectors && length > SHORT_REDUCTION;
    uses_vectors = uses_vectors && (launch->dispatch.sources & 3) == LW_FROM_BUFFER && has_vector_rows(launch, 0);
    while (uses_vectors && teams < blocks && teams < TEAMS) {
        teams *= 2;
    }
    int64_t results = lw_divide_up(blocks, teams), units = count * (results > 1 ? results : 1);
    int64_t team = reduction_team(launch, units);
    set_team(launch, team);
    parameters->teams = (uint32_t)teams;
    if (results > 1) {
        lw_webgpu_bind_scratch(launch, units * lw_shaders[launch->plan->kernel].scratch_bytes);
    }
    launch->dispatch.entry = uses_vectors ? LW_ENTRY_VECTORS : LW_ENTRY_MAIN;
    launch->dispatch.variant = !uses_vectors && team == LARGE_TEAM;
    lw_webgpu_record_invocations(launch, units * (uses_vectors ? teams * TEAMS : parameters->team));
    if (results > 1) {
        launch->dispatch.entry = LW_ENTRY_COMBINE;
        launch->dispatch.variant = 0;
        lw_webgpu_record_invocations(launch, count * team_of(results, 4));
    }
}

/* Prefix sums. If there are too few rows for the device, workgroups scan blocks of them, and those of a dispatch before
 * only add them up. */
static void record_scan(lw_webgpu_launch *launch) {
    strided *parameters = parameters_of(launch);
    int64_t rows = adjacent_rows(launch), pitch = rows < SCAN_COLUMNS ? rows : SCAN_COLUMNS, most = SCAN_TILES / pitch;
    int64_t team = team_of(parameters->length, SCAN_TILE), blocks = 1;
    team = team < most ? team : most;
    int64_t groups = lw_divide_up(parameters->count, SCAN_TILES / team);
    int64_t turns = lw_divide_up(parameters->length, team * SCAN_TILE);
    if (groups < SCAN_GROUPS && turns >= SCAN_TURNS) {
        blocks = lw_divide_up(turns, lw_divide_up(turns * groups, SCAN_BLOCKS));
    }
    parameters->pitch = (uint32_t)pitch;
    parameters->team = (uint32_t)team;
    parameters->teams = (uint32_t)lw_divide_up(turns, blocks);
    parameters->blocks = (uint32_t)blocks;
    int selects = launch->plan->results[0].size > launch->plan->operands[0].size; /* as mask_indices() asks for */
    launch->dispatch.variant = (uint32_t)((has_vector_rows(launch, 0) && has_vector_rows(launch, 1)) | selects << 1);
    if (blocks > 1) {
        lw_webgpu_bind_scratch(launch, parameters->count * blocks * lw_shaders[launch->plan->kernel].scratch_bytes);
        launch->dispatch.entry = LW_ENTRY_BLOCKS;
        lw_webgpu_record_groups(launch, groups * blocks);
        launch->dispatch.entry = LW_ENTRY_MAIN;
    }
    lw_webgpu_record_groups(launch, groups * blocks);
}

/* Returns how many invocations share a row: so few that each has several vectors, since teams wait for each other, but
 * enough to read and write whole sectors of memory. If rows are adjacent, a workgroup has at least a sector of them. */
static int64_t row_team(const lw_webgpu_launch *launch, int64_t length, int is_apart) {
    int64_t most = length > 4 * VECTORS * ROW_TEAM ? LW_WGSL_GROUP : ROW_TEAM;
    if (adjacent_rows(launch) > 1) {
        return length <= 4 * VECTORS ? 1 : length <= 4 * VECTORS * SECTOR ? SECTOR : LW_WGSL_GROUP / SECTOR;
    }
    int64_t least = team_of(length < 2 * SECTOR ? length : 2 * SECTOR, is_apart ? 4 : SECTOR);
    int64_t team = team_of(length, 2 * VECTORS);
    return team < least ? least : team < most ? team : most;
}

/* Records workgroups of so many teams, which take parts of `length` elements and so many rounds of loops. If rows have
 * several parts, each step is a dispatch. */
static void record_parts(lw_webgpu_launch *launch, int64_t teams, int64_t parts, int64_t length, int64_t rounds) {
    strided *parameters = parameters_of(launch);
    int64_t units = parameters->count * parts, groups = lw_divide_up(units, teams);
    parameters->blocks = (uint32_t)parts;
    parameters->team = (uint32_t)length;
    lw_webgpu_check_rounds(launch, groups, lw_webgpu_at_most(launch, groups), rounds + ROW_ROUNDS);
    if (parts > 1) {
        lw_webgpu_bind_scratch(launch, 2 * units * lw_shaders[launch->plan->kernel].scratch_bytes);
    }
    for (parameters->teams = parts > 1 ? 1 : 0; parameters->teams < ROW_STAGES; parameters->teams++) {
        lw_webgpu_record_groups(launch, groups);
        if (parts == 1) {
            break;
        }
    }
}

/* A workgroup computes as many rows as it has teams, or parts of few long rows. */
void lw_webgpu_rows(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    if (launch->plan->operation == &lw_operations[LW_OPERATION_cumulative_sum]) {
        record_scan(launch);
        return;
    }
    int64_t length = parameters_of(launch)->length, vectors = 1;
    int is_apart = length % 4 != 0 || (launch->dispatch.sources & 3) == LW_FROM_NUMBER || !has_vector_rows(launch, 0) ||
                   !has_vector_rows(launch, launch->plan->operation->input_count);
    int64_t team = row_team(launch, length, is_apart), teams = LW_WGSL_GROUP / team;
    int64_t own = lw_divide_up(length, 4 * team), groups = lw_divide_up(parameters_of(launch)->count, teams);
    while (vectors < own && vectors < VECTORS) {
        vectors *= 2;
    }
    int64_t blocks = lw_divide_up(own, vectors), parts = groups < FEW_ROWS ? ROW_GROUPS / groups : 1;
    parts = parts < blocks ? parts : blocks;
    int64_t each = lw_divide_up(blocks, parts > 1 ? parts : 1);
    int team_shift = __builtin_ctzll((unsigned long long)team);
    int pitch_shift = adjacent_rows(launch) > 1 ? __builtin_ctzll((unsigned long long)teams) : 0;
    launch->dispatch.entry = blocks > 1 ? LW_ENTRY_BLOCKS : LW_ENTRY_MAIN;
    launch->dispatch.variant = (uint32_t)(vectors | is_apart << 4 | team_shift << 5 | pitch_shift << 9);
    record_parts(launch, teams, lw_divide_up(blocks, each), each * vectors * 4 * team, 4 * each);
}

/* put first finds the last of equal indices, in scratch memory with a word for each position along the axis. */
static void record_put(lw_webgpu_launch *launch, int64_t extent) {
    lw_webgpu_bind_scratch(launch, extent * 4);
    launch->dispatch.entry = LW_ENTRY_CLEAR;
    lw_webgpu_record_invocations(launch, extent);
    launch->dispatch.entry = LW_ENTRY_CLAIM;
    record_elements(launch);
    launch->dispatch.entry = LW_ENTRY_MAIN;
    record_elements(launch);
}

/* take and put: the scalars are the extent and the stride of the axis. */
void lw_webgpu_gather(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    fill_parameters(launch);
    parameters_of(launch)->scalars[0] = (uint32_t)plan->parameters[0].i;
    parameters_of(launch)->scalars[1] = (uint32_t)plan->parameters[1].i;
    if (plan->operation == &lw_operations[LW_OPERATION_put]) {
        record_put(launch, plan->parameters[0].i);
    } else if (plan->layout.ndim > 0 && plan->layout.strides[1][plan->layout.ndim - 1] == 0) {
        record_vectors(launch, plan->parameters[1].i);
    } else {
        record_quarters(launch);
    }
}

/* Creation kernels receive the bits of their parameters. */
void lw_webgpu_creation(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    fill_parameters(launch);
    memcpy(parameters_of(launch)->numbers, plan->parameters, sizeof parameters_of(launch)->numbers);
    record_vectors(launch, 0);
}

/* The scalars are the length of the row, its stride, and whether equal elements are before a value. */
void lw_webgpu_search(lw_webgpu_launch *launch) {
    fill_parameters(launch);
    for (int i = 0; i < 3; i++) {
        parameters_of(launch)->scalars[i] = (uint32_t)launch->plan->parameters[i].i;
    }
    record_quarters(launch);
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
