/* Launches of sort and argsort: LwSortLayout of webgpu/kinds/sort.wgsl, which has the algorithms. */
#include "lanewise_operations.h"
#include "webgpu/webgpu_launch.h"

enum {
    SORTERS = 256, /* lw_sorters: invocations of a workgroup, and values of a digit */
    DIGIT_BITS = 8,
    WIDTH = 2048,     /* lw_width: elements of the longest row that a workgroup sorts at once */
    NETWORK = 8,      /* elements that an invocation takes at once */
    SHORT = 512,      /* elements of a row; a longer one is sorted by digits if only one differs */
    FEWEST = 4,       /* rows are sorted for their first elements if these are at most this part of WIDTH */
    MAX_BLOCKS = 4096 /* of all rows, about. Half as many to twice as many take as long, on an H200, 2026-12 */
};

static const uint32_t OPERAND = UINT32_MAX; /* lw_operand */
static const int64_t NETWORK_ROUNDS = 100;  /* of loops that sort a tile, at most */
static const int64_t BLOCK_ROUNDS = 80;     /* those for lw_items words of a block */
static const int64_t SUM_ROUNDS = 10;       /* and those that add the counts of a team */

/* LwSortLayout. Offsets and strides are in bytes modulo 2^32. */
typedef struct sorts {
    uint32_t offsets[LW_WGSL_OPERANDS];
    uint32_t shape[LW_MAX_NDIM];
    uint32_t strides[LW_MAX_NDIM][LW_WGSL_OPERANDS];
    uint32_t count, outer, length, results, flip, kept, team, parts, block, shift, bits, source, destination, counts,
        sums;
} sorts;

_Static_assert(sizeof(sorts) <= sizeof(uint32_t) * LW_PARAMETER_WORDS, "the parameters of a dispatch must have room");

static sorts *parameters_of(lw_webgpu_launch *launch) { return (sorts *)launch->parameters; }

/* Returns the least power of two that is at least `number` and `least`, but not more than `most`. */
static uint32_t team_for(int64_t number, uint32_t least, uint32_t most) {
    uint32_t team = least;
    while (team < number && team < most) {
        team *= 2;
    }
    return team;
}

/* Records a dispatch in which each workgroup takes one of `count` units after another. */
static void record_units(lw_webgpu_launch *launch, lw_entry entry, int64_t count, int64_t rounds) {
    launch->dispatch.entry = entry;
    lw_webgpu_check_rounds(launch, count, lw_webgpu_at_most(launch, count), rounds);
    lw_webgpu_record_groups(launch, count);
}

/* Sorts short rows, or takes the first elements of each tile of a row, as pairs in scratch memory, then of these. */
static void record_tiles(lw_webgpu_launch *launch) {
    sorts *parameters = parameters_of(launch);
    int64_t rows = parameters->count, results = parameters->results, pairs = 0;
    uint32_t level = 0;
    parameters->source = OPERAND;
    do {
        parameters->team = team_for(parameters->length, NETWORK, WIDTH);
        parameters->kept = team_for(results, NETWORK, parameters->team);
        parameters->parts = (uint32_t)lw_divide_up(parameters->length, WIDTH);
        int64_t tiles = rows * parameters->parts;
        if (level == 0 && parameters->parts > 1) {
            pairs = tiles * results;
            int64_t second = rows * lw_divide_up(parameters->parts * results, WIDTH) * results;
            lw_webgpu_bind_scratch(launch, 8 * (pairs + second));
        }
        parameters->destination = parameters->parts == 1 ? OPERAND : level % 2 ? (uint32_t)(2 * pairs) : 0;
        record_units(launch, LW_ENTRY_TILES, lw_divide_up(tiles, WIDTH / parameters->team), NETWORK_ROUNDS);
        parameters->source = parameters->destination;
        parameters->length = parameters->parts * (uint32_t)results;
        level++;
    } while (parameters->source != OPERAND && launch->status == LW_OK);
}

/* Returns which digits of keys differ, as bits, for keys of elements that have this dtype in memory. They are converted
 * to int32 or float32: all upper bits of integers, or the lower ones of floats, are the same. */
static unsigned digits_of(int dtype) {
    switch (dtype) {
    case LW_BOOL:
    case LW_UINT8:
        return 1;
    case LW_UINT16:
        return 3;
    case LW_INT8:
        return 9;
    case LW_INT16:
        return 11;
    case LW_BFLOAT16:
        return 12;
    case LW_FLOAT16:
        return 14;
    default:
        return 15;
    }
}

/* Moves the words by one digit after another: from the operand to scratch memory, between its halves, to the result. */
static void record_digits(lw_webgpu_launch *launch, int64_t words) {
    int dtype = launch->plan->operands[0].source.dtype;
    sorts *parameters = parameters_of(launch);
    int64_t rows = parameters->count, length = parameters->length, tile = 8 * SORTERS;
    int64_t tiles = lw_divide_up(length, tile), each = lw_divide_up(rows * tiles, MAX_BLOCKS);
    each = each < tiles ? each : tiles;
    int64_t blocks = lw_divide_up(tiles, each), half = rows * length * words, counts = rows * blocks * SORTERS;
    parameters->parts = (uint32_t)blocks;
    parameters->block = (uint32_t)(each * tile);
    parameters->team = team_for(blocks, 1, SORTERS);
    parameters->bits = dtype == LW_BOOL ? 1 : DIGIT_BITS;
    parameters->counts = (uint32_t)(2 * half);
    parameters->sums = parameters->counts + (uint32_t)(blocks > 1 ? counts : 0);
    lw_webgpu_bind_scratch(launch, 4 * (2 * half + counts + (blocks > 1 ? rows * SORTERS : 0)));
    parameters->source = OPERAND;
    for (unsigned digits = digits_of(dtype), position = 0; digits; digits >>= 1, position += DIGIT_BITS) {
        if (!(digits & 1)) {
            continue;
        }
        parameters->shift = position;
        parameters->destination = digits == 1 ? OPERAND : parameters->source == 0 ? (uint32_t)half : 0;
        record_units(launch, LW_ENTRY_BLOCKS, rows * blocks, each * BLOCK_ROUNDS);
        if (blocks > 1) {
            int64_t teams = SORTERS / parameters->team;
            int64_t rounds = lw_divide_up(blocks, parameters->team) * SUM_ROUNDS;
            record_units(launch, LW_ENTRY_COMBINE, lw_divide_up(rows * SORTERS, teams), rounds);
        }
        record_units(launch, LW_ENTRY_MAIN, rows * blocks, each * BLOCK_ROUNDS);
        parameters->source = parameters->destination;
    }
}

void lw_webgpu_sort(lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    const lw_layout *layout = &plan->layout;
    sorts *parameters = parameters_of(launch);
    int outer = layout->ndim - layout->inner, is_pairs = plan->operation == &lw_operations[LW_OPERATION_argsort];
    int64_t rows = 1, length = 1;
    for (int axis = 0; axis < layout->ndim; axis++) {
        *(axis < outer ? &rows : &length) *= layout->shape[axis];
    }
    if (rows * length > INT32_MAX) {
        lw_webgpu_refuse_size(launch);
    }
    lw_webgpu_narrow(parameters->shape, layout->shape, layout->ndim);
    lw_webgpu_narrow_strides(parameters->strides, layout->strides, 2, layout->ndim);
    parameters->offsets[1] = lw_webgpu_bind(launch, NULL);
    parameters->count = (uint32_t)rows;
    parameters->outer = (uint32_t)outer;
    parameters->length = (uint32_t)length;
    parameters->results = (uint32_t)plan->parameters[0].i;
    parameters->flip = plan->parameters[1].i ? UINT32_MAX : 0;
    unsigned digits = digits_of(plan->operands[0].source.dtype);
    int is_one_digit = (digits & (digits - 1)) == 0 && length > SHORT && parameters->results == length;
    if ((length <= WIDTH || parameters->results <= WIDTH / FEWEST) && !is_one_digit) {
        record_tiles(launch);
    } else {
        record_digits(launch, is_pairs ? 2 : 1);
    }
}
