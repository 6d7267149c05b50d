/* Runs chains on the CPU: a block of elements at a time passes through all nodes, so that what one node writes is still
 * in L1 or L2 when the next one reads it, and only operands and results that are in use move through memory. The
 * kernels are those of single launches, so the bits are theirs. */
#include "call/run.h"
#include "device/chain.h"
#include "device/devices.h"
#include "memory/strides.h"
#include "plan/cost.h"
#include "python/module.h"
#include "python/python.h"
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 12,          /* of an array: several fit in L1 */
    SLOT_BYTES = BLOCK_BYTES + 128, /* of a buffer: addresses a multiple of 4096 apart look alike to processors */
    CACHE_LINE = 64,
    IN_MEMORY = -1 /* instead of a slot */
};

/* A chain that is cut into blocks along its dimension `cut`, `rows` indices at a time. The elements of a block are
 * adjacent in results. */
typedef struct blocks {
    const lw_chain *chain;
    int ndim, cut, slot_count;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_CHAIN_BUFFERS][LW_MAX_NDIM]; /* in bytes, of the arrays that nodes read */
    int64_t rows, row_size;                         /* elements of one index along `cut` */
    int64_t across, count, per_task;                /* blocks along `cut`, in all, and of a task */
    lw_kernel *kernels[LW_CHAIN_NODES];
    int8_t slots[LW_CHAIN_NODES];                       /* the buffer that a node writes, or IN_MEMORY */
    int8_t number_slots[LW_CHAIN_NODES][LW_MAX_INPUTS]; /* those of numbers, which are repeated there */
    int8_t last_used[LW_CHAIN_NODES]; /* the last node that reads the result of this one; itself if there is none */
} blocks;

static int64_t divide_up(int64_t number, int64_t by) { return (number + by - 1) / by; }

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

static int is_number(const lw_node_input *input) { return input->node < 0 && input->buffer < 0; }

static int is_one_element(const lw_chain *chain, const lw_chain_buffer *buffer) {
    int64_t any = 0;
    for (int axis = 0; axis < chain->ndim; axis++) {
        any |= chain->shape[axis] > 1 ? buffer->strides[axis] : 0;
    }
    return any == 0;
}

/* Sets the dimensions: a single one if every array is contiguous or one element, else those of the chain. */
static void set_dimensions(blocks *b) {
    const lw_chain *chain = b->chain;
    int is_flat = 1;
    b->ndim = chain->ndim;
    memcpy(b->shape, chain->shape, sizeof b->shape);
    for (int i = 0; i < chain->buffer_count; i++) {
        const lw_chain_buffer *buffer = &chain->buffers[i];
        memcpy(b->strides[i], buffer->strides, sizeof b->strides[i]);
        is_flat &= is_one_element(chain, buffer) ||
                   lw_is_row_major(chain->ndim, chain->shape, buffer->strides, lw_item_size(buffer->dtype));
    }
    if (is_flat) {
        b->ndim = 1;
        b->shape[0] = chain->size;
        for (int i = 0; i < chain->buffer_count; i++) {
            const lw_chain_buffer *buffer = &chain->buffers[i];
            b->strides[i][0] = is_one_element(chain, buffer) ? 0 : lw_item_size(buffer->dtype);
        }
    }
}

/* Chooses the dimension to cut, the first of which a block holds a whole index, and cuts it into equal parts. */
static void cut(blocks *b) {
    int64_t most = BLOCK_BYTES;
    for (int i = 0; i < b->chain->node_count; i++) {
        const lw_node *node = &b->chain->nodes[i];
        most = at_most(most, BLOCK_BYTES / lw_item_size(node->dtype));
        for (int j = 0; j < node->operation->input_count; j++) {
            most = at_most(most, BLOCK_BYTES / lw_item_size(node->inputs[j].dtype));
        }
    }
    b->cut = b->ndim - 1;
    b->row_size = 1;
    while (b->cut > 0 && b->row_size * b->shape[b->cut] <= most) {
        b->row_size *= b->shape[b->cut--];
    }
    int64_t extent = b->shape[b->cut], parts = divide_up(extent, most / b->row_size);
    b->rows = divide_up(extent, parts);
    b->rows = b->row_size == 1 ? divide_up(b->rows, CACHE_LINE) * CACHE_LINE : b->rows; /* BLOCK_BYTES at most */
    b->across = b->count = divide_up(extent, b->rows);
    for (int axis = 0; axis < b->cut; axis++) {
        b->count *= b->shape[axis];
    }
}

/* Returns whether a node may write its result over the one of `producer`, which nothing reads later. */
static int overwrites(const blocks *b, int i, int producer) {
    const lw_node *nodes = b->chain->nodes, *node = &nodes[i];
    int may = b->slots[producer] != IN_MEMORY && b->last_used[producer] == i &&
              lw_item_size(nodes[producer].dtype) == lw_item_size(node->dtype);
    for (int j = 0; j < node->operation->input_count; j++) {
        may &= node->inputs[j].node != producer || j < node->operation->in_place;
    }
    return may;
}

/* Chooses a buffer for each result that is not in use. Returns -1 with an error set if a kernel is missing. */
static int assign_slots(blocks *b) {
    const lw_chain *chain = b->chain;
    for (int i = 0; i < chain->node_count; i++) {
        b->last_used[i] = (int8_t)i;
        for (int j = 0; j < chain->nodes[i].operation->input_count && chain->nodes[i].is_needed; j++) {
            int producer = chain->nodes[i].inputs[j].node;
            if (producer >= 0) {
                b->last_used[producer] = (int8_t)i;
            }
        }
    }
    uint32_t taken = 0;
    for (int i = 0; i < chain->node_count; i++) {
        const lw_node *node = &chain->nodes[i];
        b->slots[i] = IN_MEMORY;
        if (!node->is_needed) {
            continue;
        }
        b->kernels[i] = lw_find_kernel(node->placement.backend, node->kernel);
        if (!b->kernels[i]) {
            return -1;
        }
        for (int j = 0; j < node->operation->input_count && !node->is_in_use; j++) {
            int producer = node->inputs[j].node;
            if (producer >= 0 && overwrites(b, i, producer)) {
                b->slots[i] = b->slots[producer];
            }
        }
        if (b->slots[i] == IN_MEMORY && !node->is_in_use) {
            b->slots[i] = (int8_t)__builtin_ctz(~taken);
        }
        for (int earlier = 0; earlier < i; earlier++) {
            if (b->slots[earlier] != IN_MEMORY && b->last_used[earlier] == i) {
                taken &= ~(1u << b->slots[earlier]);
            }
        }
        if (b->slots[i] != IN_MEMORY) {
            taken |= 1u << b->slots[i];
            b->slot_count = b->slots[i] >= b->slot_count ? b->slots[i] + 1 : b->slot_count;
        }
    }
    for (int i = 0; i < chain->node_count; i++) {
        for (int j = 0; j < chain->nodes[i].operation->input_count && chain->nodes[i].is_needed; j++) {
            if (is_number(&chain->nodes[i].inputs[j])) {
                b->number_slots[i][j] = (int8_t)b->slot_count++;
            }
        }
    }
    return 0;
}

/* Sets the layout of a node for a block of some rows. */
static void set_layout(const blocks *b, const lw_node *node, int64_t rows, lw_layout *layout) {
    int count = node->operation->input_count, ndim = b->ndim - b->cut;
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    memcpy(shape, b->shape + b->cut, sizeof *shape * (size_t)ndim);
    shape[0] = rows;
    for (int j = 0; j <= count; j++) {
        const lw_node_input *input = &node->inputs[j];
        if (j < count && input->buffer >= 0) {
            memcpy(strides[j], b->strides[input->buffer] + b->cut, sizeof *shape * (size_t)ndim);
        } else {
            lw_row_major(ndim, shape, lw_item_size(j < count ? input->dtype : node->dtype), strides[j]);
        }
    }
    lw_collapse(layout, ndim, 0, shape, count + 1, (const int64_t (*)[LW_MAX_NDIM])strides);
    layout->converted = node->layout.converted;
    memcpy(layout->dtypes, node->layout.dtypes, sizeof layout->dtypes);
}

/* What a task needs: the nodes' layouts for whole blocks and for the last one along `cut`, then its buffers. */
typedef struct workspace {
    lw_layout layouts[2][LW_CHAIN_NODES];
    _Alignas(CACHE_LINE) char slots[];
} workspace;

static char *result_of(const blocks *b, int i, int64_t first, workspace *space) {
    const lw_node *node = &b->chain->nodes[i];
    return b->slots[i] == IN_MEMORY ? node->block->data + first * lw_item_size(node->dtype)
                                    : space->slots + b->slots[i] * SLOT_BYTES;
}

/* Returns the address in an array at which a block begins. */
static const char *address_of(const blocks *b, int buffer, int64_t outer, int64_t part) {
    const int64_t *strides = b->strides[buffer];
    const char *data = b->chain->buffers[buffer].data + part * b->rows * strides[b->cut];
    for (int axis = b->cut - 1; axis >= 0; axis--) {
        data += outer % b->shape[axis] * strides[axis];
        outer /= b->shape[axis];
    }
    return data;
}

static lw_status run_block(const blocks *b, lw_context *context, size_t cache_bytes, int64_t block, workspace *space) {
    const lw_chain *chain = b->chain;
    const char *arrays[LW_CHAIN_BUFFERS];
    int64_t outer = b->cut ? block / b->across : 0, part = block - outer * b->across;
    int64_t first = (outer * b->shape[b->cut] + part * b->rows) * b->row_size;
    for (int i = 0; i < chain->buffer_count; i++) {
        arrays[i] = address_of(b, i, outer, part);
    }
    lw_status status = LW_OK;
    for (int i = 0; i < chain->node_count && status == LW_OK; i++) {
        const lw_node *node = &chain->nodes[i];
        if (!node->is_needed) {
            continue;
        }
        const void *inputs[LW_MAX_INPUTS];
        for (int j = 0; j < node->operation->input_count; j++) {
            const lw_node_input *input = &node->inputs[j];
            inputs[j] = input->node >= 0     ? result_of(b, input->node, first, space)
                        : input->buffer >= 0 ? arrays[input->buffer]
                                             : space->slots + b->number_slots[i][j] * SLOT_BYTES;
        }
        void *output = result_of(b, i, first, space);
        /* By streaming stores, if the whole result is larger than the caches and no later node reads it. */
        int is_large = (uint64_t)(chain->size * lw_item_size(node->dtype)) > cache_bytes;
        context->cache_bytes = cache_bytes && is_large && node->is_in_use && b->last_used[i] == i;
        const lw_layout *layout = &space->layouts[part == b->across - 1][i];
        status = b->kernels[i](context, layout, inputs, &output, node->parameters);
    }
    return status;
}

static void fill_numbers(const blocks *b, workspace *space) {
    for (int i = 0; i < b->chain->node_count; i++) {
        const lw_node *node = &b->chain->nodes[i];
        for (int j = 0; j < node->operation->input_count && node->is_needed; j++) {
            char *slot = space->slots + b->number_slots[i][j] * SLOT_BYTES;
            size_t size = (size_t)lw_item_size(node->inputs[j].dtype), bytes = (size_t)(b->rows * b->row_size) * size;
            for (size_t at = 0; at < bytes && is_number(&node->inputs[j]); at += size) {
                memcpy(slot + at, &node->inputs[j].number, size);
            }
        }
    }
}

static lw_status run_task(lw_context *context, int64_t task, const void *argument) {
    const blocks *b = argument;
    const lw_chain *chain = b->chain;
    int64_t first = task * b->per_task, end = at_most(first + b->per_task, b->count);
    workspace *space = context->allocate(context, sizeof *space + (size_t)b->slot_count * SLOT_BYTES);
    if (!space) {
        return LW_NO_MEMORY;
    }
    for (int i = 0; i < chain->node_count; i++) {
        if (chain->nodes[i].is_needed) {
            int64_t rest = b->shape[b->cut] - (b->across - 1) * b->rows;
            set_layout(b, &chain->nodes[i], b->rows, &space->layouts[0][i]);
            set_layout(b, &chain->nodes[i], rest, &space->layouts[1][i]);
        }
    }
    fill_numbers(b, space);
    lw_context alone = *context;
    alone.run = NULL;
    alone.threads = alone.tasks = 1;
    lw_status status = LW_OK;
    for (int64_t block = first; block < end && status == LW_OK; block++) {
        status = run_block(b, &alone, context->cache_bytes, block, space);
    }
    context->release(context, space);
    return status;
}

/* Runs all blocks: an lw_kernel, whose layout is `blocks`. */
static lw_status run_blocks(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                            const lw_scalar *parameters) {
    blocks b = *(const blocks *)layout;
    b.per_task = divide_up(b.count, context->tasks);
    return context->run(context, divide_up(b.count, b.per_task), run_task, &b);
}

/* Returns the time that a chain takes on one thread: all computations, but only what moves through memory. */
static double expected_nanoseconds(const lw_chain *chain) {
    int64_t bytes = 0;
    double computing = 0;
    for (int i = 0; i < chain->buffer_count; i++) {
        bytes += is_one_element(chain, &chain->buffers[i]) ? 0 : chain->size * lw_item_size(chain->buffers[i].dtype);
    }
    for (int i = 0; i < chain->node_count; i++) {
        const lw_node *node = &chain->nodes[i];
        if (node->is_needed) {
            bytes += node->is_in_use ? chain->size * lw_item_size(node->dtype) : 0;
            computing += lw_expected_nanoseconds(node->operation, node->placement.backend, chain->size, 0);
        }
    }
    double moving = lw_expected_nanoseconds(chain->nodes[0].operation, chain->nodes[0].placement.backend, 0, bytes);
    return computing > moving ? computing : moving;
}

/* Runs the only needed node of a chain, as it was planned. */
static int run_alone(const lw_chain *chain) {
    const lw_node *node = chain->nodes;
    while (!node->is_needed) {
        node++;
    }
    const void *inputs[LW_MAX_INPUTS];
    for (int j = 0; j < node->operation->input_count; j++) {
        const lw_node_input *input = &node->inputs[j];
        inputs[j] = input->buffer >= 0 ? (const void *)chain->buffers[input->buffer].data : &input->number;
    }
    void *output = node->block->data;
    return lw_run(lw_find_kernel(node->placement.backend, node->kernel), &node->layout, inputs, &output,
                  node->parameters, expected_nanoseconds(chain));
}

static lw_status launch_chain(lw_device *device, const lw_chain *chain, int64_t launch_id) {
    if (chain->needed_count == 1) {
        return run_alone(chain) < 0 ? LW_INTERRUPTED : LW_OK;
    }
    blocks b = {.chain = chain};
    set_dimensions(&b);
    cut(&b);
    int is_done = assign_slots(&b) == 0 && lw_run(run_blocks, &b, NULL, NULL, NULL, expected_nanoseconds(chain)) == 0;
    return is_done ? LW_OK : LW_INTERRUPTED; /* with an error set */
}

static int fuse(lw_device *device, lw_chain *chain) {
    chain->kernel = 1;
    return 0;
}

/* set_chain_bytes(bytes): sets how many bytes a result on the CPU has to have for its launch to wait in a chain, and
 * returns how many it had to have before. */
static PyObject *set_chain_bytes(PyObject *module, PyObject *bytes) {
    int64_t before = lw_chain_bytes, least = PyLong_AsLongLong(bytes);
    if (PyErr_Occurred() || (!lw_host_device.fuse && lw_begin_flight(&lw_host_device) < 0)) {
        return NULL;
    }
    lw_chain_bytes = least;
    lw_host_device.fuse = fuse;
    lw_host_device.launch_chain = launch_chain;
    return PyLong_FromLongLong(before);
}

PyMethodDef lw_host_chain_functions[] = {
    {"set_chain_bytes", set_chain_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
