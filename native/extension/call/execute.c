/* Executes plans: makes the results, brings operands into the form that the kernel reads, runs the kernel. Copies and
 * casts are plans, too. */
#include "call/execute.h"
#include "call/run.h"
#include "call/workers.h"
#include "device/chain.h"
#include "device/devices.h"
#include "lanewise_operations.h"
#include "plan/cost.h"
#include "python/python.h"
#include <string.h>

/* Returns whether the operand is the output itself, so that a kernel may read and write it element by element. */
static int coincides(const lw_tensor *out, const lw_operand *operand) {
    return operand->data == out->data && operand->dtype == out->dtype && operand->ndim == out->ndim &&
           memcmp(operand->shape, out->shape, sizeof(int64_t) * (size_t)out->ndim) == 0 &&
           memcmp(operand->strides, out->strides, sizeof(int64_t) * (size_t)out->ndim) == 0;
}

lw_tensor *lw_check_out(const lw_plan *plan, PyObject *object) {
    const lw_operand *operands = plan->operands;
    const lw_result *result = &plan->results[0];
    if (!lw_is_tensor(object)) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected a tensor for out, got %S", lw_describe(object));
    }
    lw_tensor *out = (lw_tensor *)object;
    if (out->read_only) {
        return lw_raise(LW_READ_ONLY_ERROR, "expected a writable tensor for out, got a read-only one");
    }
    if (out->dtype != plan->result_dtype) {
        return lw_raise(LW_DTYPE_ERROR, "expected a tensor of dtype %s for out, got %s",
                        lw_dtype_name(plan->result_dtype), lw_dtype_name(out->dtype));
    }
    if (out->ndim != result->ndim || memcmp(out->shape, result->shape, sizeof(int64_t) * (size_t)result->ndim) != 0) {
        return lw_raise(LW_SHAPE_ERROR, "expected a tensor of shape %s for out, got %s",
                        lw_shape_text(result->ndim, result->shape), lw_shape_text(out->ndim, out->shape));
    }
    if (!out->contiguous) {
        return lw_raise(
            LW_ARGUMENT_ERROR,
            "expected a contiguous tensor for out, got a strided one; assign the result with out[...] = ... instead");
    }
    for (int i = 0; i < plan->operation->input_count; i++) {
        if (lw_overlaps(out, &operands[i]) && !(i < plan->operation->in_place && coincides(out, &operands[i]))) {
            return lw_raise(
                LW_ARGUMENT_ERROR,
                "expected an out that shares no memory with the inputs, got one that overlaps input %d; copy the "
                "input first",
                i + 1);
        }
    }
    Py_INCREF(object);
    return out;
}

/* Replaces an operand by the copy that its plan states. Changes only what the kernel reads, the data. */
static __attribute__((noinline)) int copy_operand(const lw_plan *plan, lw_operand *operand);

/* Launches a plan on a device. */
static int launch(lw_device *device, const lw_plan *plan, lw_tensor *const *results) {
    lw_storage *storages[LW_MAX_INPUTS + LW_MAX_RESULTS] = {NULL};
    char *outputs[LW_MAX_RESULTS];
    if (lw_end_chain(device) < 0) {
        return -1;
    }
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        storages[i] = operand->data && operand->tensor ? operand->tensor->storage : NULL;
    }
    for (int i = 0; i < plan->result_count; i++) {
        storages[LW_MAX_INPUTS + i] = results[i]->storage;
        outputs[i] = results[i]->data;
    }
    return lw_launch(device, plan, storages, outputs);
}

/* Sees to it that all operands and results have memory, and nothing has yet to read what is overwritten. */
static int settle(lw_plan *plan, lw_tensor *const *results) {
    int status = 0;
    for (int i = 0; i < plan->operation->input_count && status == 0; i++) {
        status = plan->operands[i].data ? lw_settle_operand(&plan->operands[i]) : 0;
    }
    for (int i = 0; i < plan->result_count && status == 0; i++) {
        status = lw_settle(results[i]->storage);
        status = status == 0 && lw_has_readers() ? lw_settle_readers(results[i]->storage) : status;
    }
    return status;
}

static int run(lw_plan *plan, lw_tensor *const *results) {
    enum { FEW = 4096 }; /* moving the operands of so few steps takes less than 1 us, so their bytes do not count */
    const void *inputs[LW_MAX_INPUTS];
    void *outputs[LW_MAX_RESULTS];
    for (int i = 0; i < plan->operation->input_count; i++) {
        if (plan->operands[i].data && plan->operands[i].is_copied && copy_operand(plan, &plan->operands[i]) < 0) {
            return -1;
        }
    }
    if (plan->is_chained) {
        return lw_append_to_chain(plan, results[0]);
    }
    if (settle(plan, results) < 0) {
        return -1;
    }
    if (lw_has_devices && lw_devices[plan->placement.backend]) {
        return launch(lw_devices[plan->placement.backend], plan, results);
    }
    for (int i = 0; i < plan->operation->input_count; i++) {
        inputs[i] = plan->operands[i].data;
    }
    for (int i = 0; i < plan->result_count; i++) {
        outputs[i] = results[i]->data;
    }
    int64_t bytes = plan->steps < FEW ? 0 : lw_moved_bytes(plan);
#if defined(__wasm__)
    int shared = lw_run_on_workers(plan, inputs, outputs);
    if (shared != 0) {
        return shared < 0 ? -1 : 0;
    }
#endif
    return lw_run(lw_find_kernel(plan->placement.backend, plan->kernel), &plan->layout, inputs, outputs,
                  plan->parameters,
                  lw_expected_nanoseconds(plan->operation, plan->placement.backend, plan->steps, bytes));
}

/* Plans a copy of an operand, converted to `dtype`, but not the result. */
static void begin_copy(lw_plan *plan, const lw_operand *source, int dtype, lw_placement placement) {
    int copies = source->dtype == dtype;
    plan->operation = &lw_operations[copies ? LW_OPERATION_copy : LW_OPERATION_astype];
    plan->kernel = plan->operation->kernels[copies ? 0 : dtype][source->dtype];
    plan->dtype = plan->result_dtype = (int8_t)dtype;
    plan->placement = plan->result_placement = placement;
    plan->result_count = 1;
    plan->is_chained = 0;
    lw_borrow_operand(source, source->ndim, &plan->operands[0]);
}

/* Returns a copy of an operand on the device where it is: row-major, or in the operand's order. */
static lw_tensor *copy_here(const lw_operand *source, int dtype, lw_placement placement, int keeps_order) {
    lw_plan plan;
    begin_copy(&plan, source, dtype, placement);
    if (lw_set_result_like(&plan, source->ndim, source->shape, source, keeps_order) < 0) {
        return NULL;
    }
    lw_plan_elements(&plan);
    lw_tensor *copied = (lw_tensor *)lw_execute(&plan, NULL);
    lw_end_plan(&plan);
    return copied;
}

/* Copies the elements of a contiguous operand from a device to the host, or the other way. */
static lw_tensor *transfer(const lw_operand *source, lw_placement placement) {
    lw_tensor *moved = lw_tensor_new(source->dtype, source->ndim, source->shape, placement);
    if (!moved || moved->size == 0) {
        return moved;
    }
    lw_operand settled;
    lw_borrow_operand(source, source->ndim, &settled);
    int is_host = !lw_device_of(source), status = is_host ? lw_settle_operand(&settled) : 0;
    if (status < 0 || (is_host ? lw_upload(moved, settled.data) : lw_download(moved->data, source)) < 0) {
        Py_DECREF((PyObject *)moved);
        return NULL;
    }
    return moved;
}

/* Takes one step on the way to lw_copy_to(): makes an operand contiguous, moves it, or converts it. */
static lw_tensor *step_towards(const lw_operand *source, int dtype, lw_placement placement) {
    lw_device *from = lw_device_of(source), *to = lw_devices[placement.backend];
    if (from == to || source->is_copied) {
        return copy_here(source, dtype, placement, 0);
    }
    if (!source->contiguous) {
        return copy_here(source, source->dtype,
                         source->tensor ? (lw_placement){source->tensor->backend, 0} : lw_host_placement(), 0);
    }
    return transfer(source, from && to ? lw_host_placement() : placement); /* devices exchange data through the host */
}

lw_tensor *lw_copy_to(const lw_operand *source, int dtype, lw_placement placement) {
    lw_tensor *copied = step_towards(source, dtype, placement);
    while (copied && (copied->dtype != dtype || copied->storage->device != lw_devices[placement.backend])) {
        lw_tensor *before = copied;
        copied = lw_copy_tensor(before, dtype, placement);
        Py_DECREF((PyObject *)before);
    }
    return copied;
}

lw_tensor *lw_copy_tensor(lw_tensor *tensor, int dtype, lw_placement placement) {
    lw_operand operand;
    lw_operand_from_tensor(tensor, &operand);
    return lw_copy_to(&operand, dtype, placement);
}

lw_tensor *lw_cast(const lw_operand *operand, int dtype) {
    lw_placement placement = lw_resolve_placement(operand, 1);
    if (placement.backend < 0) {
        return NULL;
    }
    int stays = !operand->is_copied && lw_device_of(operand) == lw_devices[placement.backend];
    return stays ? copy_here(operand, dtype, placement, 1) : lw_copy_to(operand, dtype, placement);
}

lw_tensor *lw_cast_tensor(lw_tensor *tensor, int dtype) {
    lw_operand operand;
    lw_operand_from_tensor(tensor, &operand);
    return lw_cast(&operand, dtype);
}

lw_tensor *lw_copy_row_major(lw_tensor *tensor) {
    lw_operand operand;
    lw_operand_from_tensor(tensor, &operand);
    lw_placement placement = lw_resolve_placement(&operand, 1);
    return placement.backend >= 0 ? lw_copy_to(&operand, tensor->dtype, placement) : NULL;
}

lw_tensor *lw_to_host(lw_tensor *tensor) {
    int is_host = !tensor->storage->device;
    lw_placement placement = is_host ? (lw_placement){tensor->backend, 0} : lw_host_placement();
    lw_tensor *host = is_host && tensor->contiguous ? (lw_tensor *)Py_NewRef((PyObject *)tensor)
                                                    : lw_copy_tensor(tensor, tensor->dtype, placement);
    if (host && lw_settle(host->storage) < 0) {
        Py_DECREF((PyObject *)host);
        return NULL;
    }
    return host;
}

PyObject *lw_read_item(lw_tensor *tensor, char *data) {
    if (!tensor->storage->device) {
        ptrdiff_t offset = data - tensor->data;
        return lw_settle(tensor->storage) < 0 ? NULL : lw_item(tensor->dtype, tensor->data + offset);
    }
    lw_tensor *element = lw_tensor_view(tensor, data, 0, NULL, NULL);
    lw_tensor *host = element ? lw_to_host(element) : NULL;
    PyObject *item = host ? lw_item(host->dtype, host->data) : NULL;
    Py_XDECREF((PyObject *)element);
    Py_XDECREF((PyObject *)host);
    return item;
}

static int copy_operand(const lw_plan *plan, lw_operand *operand) {
    lw_operand stored;
    lw_stored_operand(operand, &stored);
    int is_rounded = operand->rounding >= 0;
    lw_tensor *copied = lw_copy_to(&stored, is_rounded ? operand->rounding : operand->dtype, plan->placement);
    if (copied && is_rounded) {
        lw_tensor *rounded = copied;
        copied = lw_copy_tensor(rounded, operand->dtype, plan->placement);
        Py_DECREF((PyObject *)rounded);
    }
    if (!copied) {
        return -1;
    }
    lw_release_operand(operand);
    operand->data = copied->data;
    operand->shape = operand->ndim == copied->ndim ? copied->shape : operand->shape; /* the source's may be gone */
    operand->tensor = copied;
    operand->owned = (PyObject *)copied;
    operand->is_copied = 0;
    return 0;
}

/* Converts a result, and moves it from the backend that computed it to that of the call, or to `out`. Returns -1 on
 * failure. */
static int finish_result(const lw_plan *plan, PyObject *out, lw_tensor **result) {
    lw_operand computed;
    lw_operand_from_tensor(*result, &computed);
    lw_tensor *copied =
        out ? lw_check_out(plan, out) : lw_copy_to(&computed, plan->result_dtype, plan->result_placement);
    int done = !copied ? -1 : out ? lw_copy_into(copied, &computed) : 0;
    Py_DECREF((PyObject *)*result);
    *result = copied;
    return done;
}

static lw_tensor *new_result(const lw_plan *plan, const lw_result *result) {
    int64_t bytes = result->size * lw_item_size(plan->dtype);
    if (!plan->is_chained) {
        lw_tensor *tensor =
            lw_tensor_new_row_major(plan->dtype, result->ndim, result->shape, result->strides, bytes, plan->placement);
        if (tensor) {
            tensor->contiguous = result->contiguous;
        }
        return tensor;
    }
    lw_storage *storage = lw_storage_defer(bytes, lw_devices[plan->placement.backend]);
    lw_tensor *tensor = storage ? lw_tensor_from_storage(storage, storage->data, plan->dtype, result->ndim,
                                                         result->shape, result->strides, plan->placement)
                                : NULL;
    if (tensor) {
        storage->owner = tensor;
    }
    return tensor;
}

PyObject *lw_execute(lw_plan *plan, PyObject *out) {
    lw_tensor *results[LW_MAX_RESULTS] = {NULL, NULL};
    lw_device *target =
        out && lw_is_tensor(out) ? ((lw_tensor *)out)->storage->device : lw_devices[plan->result_placement.backend];
    int is_final = target == lw_devices[plan->placement.backend] && plan->dtype == plan->result_dtype, is_done = 1;
    plan->is_chained = (uint8_t)(!(out && is_final) && lw_can_chain(plan));
    for (int i = 0; i < plan->result_count && is_done; i++) {
        results[i] = out && is_final ? lw_check_out(plan, out) : new_result(plan, &plan->results[i]);
        is_done = results[i] != NULL;
    }
    is_done = is_done && (plan->results[0].size == 0 || run(plan, results) == 0);
    for (int i = 0; i < plan->result_count && is_done && !is_final; i++) {
        is_done = finish_result(plan, out, &results[i]) == 0;
    }
    if (is_done && plan->result_count == 1) {
        return (PyObject *)results[0];
    }
    PyObject *named =
        is_done ? lw_call_hook("several", plan->operation->name, (PyObject *)results[0], (PyObject *)results[1], NULL)
                : NULL;
    Py_XDECREF((PyObject *)results[0]);
    Py_XDECREF((PyObject *)results[1]);
    return named;
}

int lw_execute_into(lw_plan *plan, lw_tensor *target) { return run(plan, &target); }

int lw_copy_into(lw_tensor *target, lw_operand *source) {
    lw_operand both[2];
    lw_plan plan;
    if (lw_refuse_writing(target) || (source->weakness != LW_STRONG && lw_convert_operand(source, target->dtype) < 0)) {
        return -1;
    }
    lw_operand_from_tensor(target, &both[0]);
    lw_borrow_operand(source, source->ndim, &both[1]);
    while (both[1].ndim > target->ndim && both[1].shape[0] == 1) { /* drop leading extents of 1, as NumPy does */
        both[1].shape++;
        both[1].strides++;
        both[1].ndim--;
    }
    lw_result *result = &plan.results[0];
    int ndim = lw_broadcast_shape(both, 2, result->shape);
    if (ndim < 0) {
        return -1;
    }
    if (ndim != target->ndim || memcmp(result->shape, target->shape, sizeof(int64_t) * (size_t)ndim) != 0) {
        return lw_refuse(LW_SHAPE_ERROR, "expected a value that broadcasts to shape %s, got shape %s",
                         lw_shape_text(target->ndim, target->shape), lw_shape_text(source->ndim, source->shape));
    }
    /* x[1:] = x[:-1] would read overwritten elements */
    int is_apart = !lw_is_number(&both[1]) && lw_device_of(&both[1]) != target->storage->device;
    if ((is_apart || lw_overlaps(target, &both[1])) && lw_copy_operand(&both[1], target->dtype) < 0) {
        return -1;
    }
    begin_copy(&plan, &both[1], target->dtype, (lw_placement){target->backend, target->committed});
    memcpy(result->strides, target->strides, sizeof(int64_t) * (size_t)ndim);
    result->size = target->size;
    result->ndim = (int8_t)ndim;
    result->contiguous = target->contiguous;
    lw_plan_elements(&plan);
    int done = target->size ? lw_execute_into(&plan, target) : 0;
    lw_end_plan(&plan);
    return done;
}
