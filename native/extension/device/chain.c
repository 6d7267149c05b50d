/* Collects elementwise launches in chains, and ends them. */
#include "device/chain.h"
#include "device/devices.h"
#include "lanewise_operations.h"
#include <stdlib.h>
#include <string.h>

int64_t lw_chain_bytes = INT64_MAX;

/* Returns whether the result or an operand needs more than one block of memory. */
static int has_large_storage(const lw_plan *plan, size_t limit) {
    int is_large = (size_t)plan->results[0].size * (size_t)lw_item_size(plan->dtype) > limit;
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        is_large |= operand->data && operand->tensor && operand->tensor->storage->bytes > limit;
    }
    return is_large;
}

/* Returns whether the host can read an operand later, block by block: what nobody else writes, and whose elements are
 * adjacent, or one is repeated, in runs that are long enough for a block. */
static int can_wait_on_host(const lw_operand *operand, const lw_result *result) {
    enum { LONG_RUN = 512 };
    if (lw_is_number(operand) || operand->is_copied) {
        return 1;
    }
    if (!operand->tensor || operand->tensor->storage->is_shared) {
        return 0;
    }
    int64_t strides[LW_MAX_NDIM], run = 1, expected = -1;
    lw_broadcast_strides(operand, result->ndim, result->shape, strides);
    for (int axis = result->ndim - 1; axis >= 0; axis--) {
        if (result->shape[axis] == 1) {
            continue;
        }
        expected = expected >= 0 ? expected : strides[axis] ? lw_item_size(operand->dtype) : 0;
        if (strides[axis] != expected) {
            break;
        }
        run *= result->shape[axis];
        expected *= result->shape[axis];
    }
    return run == result->size || run >= LONG_RUN;
}

static int can_chain_on_host(const lw_plan *plan) {
    const lw_result *result = &plan->results[0];
    int is_copy = plan->operation == &lw_operations[LW_OPERATION_copy]; /* gains nothing by waiting */
    int waits = !is_copy && result->contiguous && result->size * lw_item_size(plan->dtype) >= lw_chain_bytes;
    for (int i = 0; i < plan->operation->input_count && waits; i++) {
        waits = can_wait_on_host(&plan->operands[i], result);
    }
    return waits;
}

int lw_can_chain(const lw_plan *plan) {
    const lw_device *device = lw_launcher(lw_devices[plan->placement.backend]);
    int kind = plan->operation->kind;
    return device->fuse && !device->is_lost && (kind == LW_KIND_ELEMENTWISE || kind == LW_KIND_CAST) &&
           plan->results[0].size > 0 && plan->results[0].size <= INT32_MAX && lw_has_kernel(plan) &&
           (!device->max_block || !has_large_storage(plan, device->max_block)) &&
           (device != &lw_host_device || can_chain_on_host(plan));
}

/* Returns the node that computes a storage, or -1. */
static int find_node(const lw_chain *chain, const lw_storage *storage) {
    for (int i = 0; chain && i < chain->node_count; i++) {
        if (chain->nodes[i].result == storage) {
            return i;
        }
    }
    return -1;
}

/* Returns the node that computes an operand, or -1. */
static int find_producer(const lw_device *device, const lw_operand *operand) {
    const lw_storage *storage = operand->tensor ? operand->tensor->storage : NULL;
    return storage && lw_is_pending(storage) ? find_node(device->chain, storage) : -1;
}

/* Finds the strides of an operand along the dimensions of a chain. */
static void chain_strides(const lw_chain *chain, const lw_operand *operand, const lw_result *result, int64_t *strides) {
    int64_t own[LW_MAX_NDIM];
    lw_broadcast_strides(operand, result->ndim, result->shape, own);
    for (int i = 0; i < chain->ndim; i++) {
        strides[i] = own[chain->order[i]];
    }
}

static int find_buffer(const lw_chain *chain, const lw_operand *operand, const int64_t *strides) {
    for (int i = 0; i < chain->buffer_count; i++) {
        const lw_chain_buffer *buffer = &chain->buffers[i];
        if (buffer->data == operand->data && buffer->dtype == operand->dtype &&
            memcmp(buffer->strides, strides, sizeof(int64_t) * (size_t)chain->ndim) == 0) {
            return i;
        }
    }
    return -1;
}

static int count_numbers(const lw_plan *plan) {
    int count = plan->operation->parameter_count;
    for (int i = 0; i < plan->operation->input_count; i++) {
        count += lw_is_number(&plan->operands[i]);
    }
    return count;
}

static int has_room(const lw_device *device, const lw_plan *plan) {
    const lw_chain *chain = device->chain;
    const lw_result *result = &plan->results[0];
    if (chain->ndim != result->ndim || chain->node_count == LW_CHAIN_NODES ||
        chain->number_count + count_numbers(plan) > LW_CHAIN_NUMBERS) {
        return 0;
    }
    int order[LW_MAX_NDIM];
    lw_order_by_stride(result->ndim, result->shape, result->strides, order);
    for (int i = 0; i < chain->ndim; i++) {
        if (order[i] != chain->order[i] || result->shape[order[i]] != chain->shape[i]) {
            return 0;
        }
    }
    int buffers = chain->buffer_count + 1;
    for (int i = 0; i < chain->node_count; i++) {
        buffers += chain->nodes[i].result->references > 1;
    }
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        int64_t strides[LW_MAX_NDIM];
        if (!lw_is_number(operand) && find_producer(device, operand) < 0) {
            chain_strides(chain, operand, result, strides);
            buffers += find_buffer(chain, operand, strides) < 0;
        }
    }
    return buffers <= LW_CHAIN_BUFFERS;
}

/* Marks the nodes whose results are in use, and those that these depend on. */
static void mark_needed(lw_chain *chain) {
    chain->needed_count = 0;
    for (int i = 0; i < chain->node_count; i++) {
        lw_node *node = &chain->nodes[i];
        node->is_in_use = node->is_needed = node->result->references > 1;
    }
    for (int i = chain->node_count - 1; i >= 0; i--) {
        const lw_node *node = &chain->nodes[i];
        chain->needed_count += node->is_needed;
        for (int j = 0; j < node->operation->input_count && node->is_needed; j++) {
            if (node->inputs[j].node >= 0) {
                chain->nodes[node->inputs[j].node].is_needed = 1;
            }
        }
    }
}

static int allocate_block(lw_node *node) {
    node->block = lw_storage_new((int64_t)node->result->bytes, node->result->device);
    return node->block ? 0 : -1;
}

/* Gives the result of a node its memory. */
static void adopt_block(lw_node *node) {
    lw_tensor *tensor = node->result->references > 1 ? node->result->owner : NULL;
    lw_storage_adopt(node->result, node->block);
    node->block = NULL;
    if (tensor) { /* the only one: views are made only of what has memory */
        tensor->data = node->result->data;
    }
}

/* Runs the needed nodes as one kernel. The results get their memory when it is launched: on the host, other threads may
 * run while it computes. */
static int launch_fused(lw_device *device, lw_chain *chain) {
    lw_storage *storages[LW_CHAIN_BUFFERS];
    int count = chain->buffer_count, status = 0;
    for (int i = 0; i < count; i++) {
        storages[i] = chain->buffers[i].storage;
    }
    for (int i = 0; i < chain->node_count && status == 0; i++) {
        if (chain->nodes[i].is_in_use) {
            status = allocate_block(&chain->nodes[i]);
            storages[count++] = chain->nodes[i].result;
        }
    }
    if (status == 0) {
        device->counters[LW_CHAINS_RUN] += chain->needed_count > 1;
        status = lw_launch_chain(device, chain, storages, chain->buffer_count, count);
    }
    for (int i = 0; i < chain->node_count; i++) {
        if (chain->nodes[i].block && status == 0) {
            adopt_block(&chain->nodes[i]);
        } else if (chain->nodes[i].block) {
            lw_storage_release(chain->nodes[i].block);
        }
    }
    return status;
}

static int launch_node(lw_device *device, const lw_chain *chain, lw_node *node) {
    lw_plan plan;
    lw_storage *storages[LW_MAX_INPUTS + LW_MAX_RESULTS] = {NULL};
    plan.operation = node->operation;
    plan.placement = plan.result_placement = node->placement;
    plan.kernel = node->kernel;
    plan.dtype = node->dtype;
    plan.result_count = 1;
    plan.steps = plan.results[0].size = chain->size;
    plan.layout = node->layout;
    memcpy(plan.parameters, node->parameters, sizeof plan.parameters);
    for (int i = 0; i < node->operation->input_count; i++) {
        const lw_node_input *input = &node->inputs[i];
        lw_operand *operand = &plan.operands[i];
        operand->dtype = input->dtype;
        operand->size = chain->size;
        operand->scalar = input->number;
        operand->data = (const char *)&operand->scalar;
        if (input->node >= 0) {
            storages[i] = chain->nodes[input->node].result;
            operand->data = storages[i]->data;
        } else if (input->buffer >= 0) {
            storages[i] = chain->buffers[input->buffer].storage;
            operand->data = chain->buffers[input->buffer].data;
        }
        if (storages[i] && lw_is_pending(storages[i])) { /* its own launch failed */
            node->result->written = storages[i]->written;
            return 0;
        }
    }
    if (allocate_block(node) < 0) {
        return -1;
    }
    adopt_block(node);
    storages[LW_MAX_INPUTS] = node->result;
    return lw_launch(device, &plan, storages, &node->result->data);
}

/* Returns whether a needed node after `position` reads the result of `node`. */
static int is_read_later(const lw_chain *chain, int position, int node) {
    for (int i = position + 1; i < chain->node_count; i++) {
        for (int j = 0; j < chain->nodes[i].operation->input_count && chain->nodes[i].is_needed; j++) {
            if (chain->nodes[i].inputs[j].node == node) {
                return 1;
            }
        }
    }
    return 0;
}

static void release_result(lw_node *node) {
    if (node->result) {
        lw_storage_release(node->result);
    }
    node->result = NULL;
}

/* Launches the needed nodes one by one, and releases temporary results as soon as nothing reads them. */
static int launch_nodes(lw_device *device, lw_chain *chain) {
    int status = 0;
    for (int i = 0; i < chain->node_count; i++) {
        lw_node *node = &chain->nodes[i];
        if (!node->is_needed) {
            continue;
        }
        if ((status < 0 || launch_node(device, chain, node) < 0) && lw_fail_storage(device, node->result) < 0) {
            status = -1; /* Ctrl-C: the nodes that are left fail, too */
        }
        for (int j = 0; j < i; j++) {
            lw_node *earlier = &chain->nodes[j];
            if (earlier->result && !earlier->is_in_use && !is_read_later(chain, i, j)) {
                release_result(earlier);
            }
        }
    }
    return status;
}

static int launch_fused_or_fail(lw_device *device, lw_chain *chain) {
    if (launch_fused(device, chain) == 0) {
        return 0;
    }
    int status = lw_fail_storage(device, chain->nodes[chain->node_count - 1].result);
    for (int i = 0; i < chain->node_count; i++) {
        chain->nodes[i].result->written = chain->nodes[chain->node_count - 1].result->written;
    }
    return status;
}

static void free_chain(lw_chain *chain) {
    for (int i = 0; i < chain->node_count; i++) {
        release_result(&chain->nodes[i]);
    }
    for (int i = 0; i < chain->buffer_count; i++) {
        lw_storage_release(chain->buffers[i].storage);
    }
    free(chain);
}

/* Ends the chain of a device. Launches that fail are reported late. Returns -1 with an error set after Ctrl-C. */
static int end_chain(lw_device *device) {
    lw_chain *chain = device->chain;
    if (!chain) {
        return 0;
    }
    device->chain = NULL; /* code that runs meanwhile, in this thread or another, begins a new one */
    chain->launcher = PyGILState_GetThisThreadState();
    chain->next = device->ending;
    device->ending = chain;
    mark_needed(chain);
    int status = 0, is_interrupted = chain->needed_count && !device->is_lost && device->fuse(device, chain) < 0;
    if (chain->kernel) {
        status = launch_fused_or_fail(device, chain);
    } else if (!device->is_lost) {
        PyObject *type = NULL, *error = NULL, *traceback = NULL;
        if (is_interrupted) { /* Ctrl-C, while the kernel was compiled; nothing is lost by that */
            PyErr_Fetch(&type, &error, &traceback);
        }
        status = launch_nodes(device, chain);
        if (type && status == 0) {
            PyErr_Restore(type, error, traceback);
            status = -1;
        }
    }
    lw_chain **link = &device->ending;
    while (*link != chain) {
        link = &(*link)->next;
    }
    *link = chain->next;
    free_chain(chain);
    return status;
}

static int reads(const lw_chain *chain, const lw_storage *storage) {
    int is_read = 0;
    for (int i = 0; chain && i < chain->buffer_count; i++) {
        is_read |= chain->buffers[i].storage == storage;
    }
    return is_read;
}

/* Lets other threads run until the chains that compute or read a storage have been launched by them. */
static int wait_for_launch(const lw_device *device, const lw_storage *storage) {
    const lw_chain *chain = device->ending;
    while (chain) {
        if (find_node(chain, storage) < 0 && !(device == &lw_host_device && reads(chain, storage))) {
            chain = chain->next;
            continue;
        }
        if (chain->launcher == PyGILState_GetThisThreadState()) {
            return lw_refuse(LW_DEVICE_FAULT, "expected a tensor that has been launched, got one that is just being "
                                              "launched; do not use tensors in finalizers");
        }
        PyEval_RestoreThread(PyEval_SaveThread());
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
        chain = device->ending; /* it may have changed */
    }
    return 0;
}

/* lw_device.settle */
static int settle(lw_device *device, const lw_storage *storage) {
    if (end_chain(device) < 0) {
        return -1;
    }
    if (!storage || !lw_is_pending(storage)) {
        return 0;
    }
    if (wait_for_launch(device, storage) < 0) {
        return -1;
    }
    if (!lw_is_pending(storage)) {
        return 0;
    }
    if (lw_check_written(device, storage->written) == 0) { /* no chain computes it, and none has failed to */
        lw_raise(LW_DEVICE_FAULT, "expected a tensor that has been computed, got one that another thread was computing "
                                  "when this process was forked; fork between two calls");
    }
    return -1;
}

int lw_settle_readers(const lw_storage *storage) {
    lw_device *host = &lw_host_device;
    if (reads(host->chain, storage) && end_chain(host) < 0) {
        return -1;
    }
    return host->ending ? wait_for_launch(host, storage) : 0;
}

int lw_share(lw_tensor *tensor) {
    if (lw_settle(tensor->storage) < 0 || lw_settle_readers(tensor->storage) < 0) {
        return -1;
    }
    tensor->storage->is_shared = 1;
    return 0;
}

/* lw_device.abandon */
static void abandon(lw_device *device) {
    lw_chain *chain = device->chain;
    for (int i = 0; chain && i < chain->node_count; i++) {
        if (chain->nodes[i].result->references > 1) {
            return;
        }
    }
    device->chain = NULL;
    if (chain) {
        free_chain(chain);
    }
}

static lw_chain *begin_chain(lw_device *device, const lw_result *result) {
    lw_chain *chain = calloc(1, sizeof *chain);
    if (!chain) {
        lw_refuse_memory();
        return NULL;
    }
    chain->ndim = result->ndim;
    chain->size = result->size;
    lw_order_by_stride(result->ndim, result->shape, result->strides, chain->order);
    for (int i = 0; i < result->ndim; i++) {
        chain->shape[i] = result->shape[chain->order[i]];
    }
    device->settle = settle;
    device->abandon = abandon;
    device->chain = chain;
    return chain;
}

/* Sees to it that each operand is a number, has memory, or is computed by a node of the chain. */
static int settle_operands(lw_device *device, lw_plan *plan) {
    for (int i = 0; i < plan->operation->input_count; i++) {
        lw_operand *operand = &plan->operands[i];
        if (lw_is_number(operand) || find_producer(device, operand) >= 0) {
            continue;
        }
        if (lw_launcher(operand->tensor->storage->device) != device) { /* a lost one: all others have been copied */
            return lw_check_device(operand->tensor->storage->device, LW_DEVICE_ERROR);
        }
        int was_pending = lw_is_pending(operand->tensor->storage);
        if (lw_settle_operand(operand) < 0) {
            return -1;
        }
        i = was_pending ? -1 : i; /* that ended the chain */
    }
    return 0;
}

static void add_input(lw_chain *chain, const lw_operand *operand, const lw_result *result, int producer,
                      lw_node_input *input) {
    *input = (lw_node_input){.node = (int8_t)producer, .buffer = -1, .dtype = operand->dtype};
    if (lw_is_number(operand)) {
        input->number = operand->scalar;
    } else if (producer < 0) {
        int64_t strides[LW_MAX_NDIM];
        chain_strides(chain, operand, result, strides);
        int found = find_buffer(chain, operand, strides);
        input->buffer = (int8_t)(found < 0 ? chain->buffer_count++ : found);
        lw_chain_buffer *buffer = &chain->buffers[input->buffer];
        if (found < 0) {
            *buffer = (lw_chain_buffer){operand->tensor->storage, operand->data, operand->dtype, {0}};
            memcpy(buffer->strides, strides, sizeof(int64_t) * (size_t)chain->ndim);
            buffer->storage->references++;
        }
    }
}

int lw_append_to_chain(lw_plan *plan, lw_tensor *result) {
    lw_device *device = lw_launcher(lw_devices[plan->placement.backend]);
    int status = 0;
    do { /* while a chain ends, another thread may begin a new one */
        if (settle_operands(device, plan) < 0) {
            return -1;
        }
    } while (device->chain && !has_room(device, plan) && (status = end_chain(device)) == 0);
    if (status < 0) {
        return -1;
    }
    lw_chain *chain = device->chain ? device->chain : begin_chain(device, &plan->results[0]);
    if (!chain) {
        return -1;
    }
    lw_node *node = &chain->nodes[chain->node_count];
    node->operation = plan->operation;
    node->placement = plan->placement;
    node->kernel = plan->kernel;
    node->dtype = plan->dtype;
    node->layout = plan->layout;
    memcpy(node->parameters, plan->parameters, sizeof node->parameters);
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        add_input(chain, operand, &plan->results[0], find_producer(device, operand), &node->inputs[i]);
    }
    chain->number_count += count_numbers(plan);
    node->result = result->storage;
    result->storage->references++;
    chain->node_count++;
    return 0;
}
