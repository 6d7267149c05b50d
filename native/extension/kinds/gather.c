/* Implements take, take_along_axis, put and mask_indices. The kernels depend on the item size only, not on the dtype,
 * and read int32 indices. */
#include "call/call.h"
#include "call/execute.h"
#include "lanewise_operations.h"
#include "python/module.h"
#include <string.h>

/* Raises an error for an index that is out of range. `axis` is as in lw_raise_index(). */
static int check_index(int64_t index, int axis, int64_t extent) {
    if (index < -extent || index >= extent) {
        lw_raise_index(index, axis, extent);
        return -1;
    }
    return 0;
}

/* Converts indices to int32. Raises an error for dtypes other than integers. */
static int convert_indices(lw_operand *indices, int axis, int64_t extent) {
    if (indices->weakness == LW_WEAK_INT && check_index(indices->scalar.i, axis, extent) < 0) {
        return -1;
    }
    int is_number = lw_is_weak_int(indices->weakness) || lw_is_big_int(indices->weakness);
    int is_strong = indices->weakness == LW_STRONG;
    if (!is_number && !(is_strong && lw_is_integer(indices->dtype))) {
        return lw_refuse(LW_DTYPE_ERROR, "expected indices of an integer dtype, got %s; use astype",
                         indices->weakness == LW_WEAK_BOOL ? "bool"
                                                           : lw_dtype_name(is_strong ? indices->dtype : LW_FLOAT32));
    }
    return lw_convert_operand(indices, LW_INT32);
}

/* Checks the indices of a plan that no kernel checks: kernels of the CPU check all that they read, those of a device
 * check none. Indices that are on a device stay unchecked, unless int32 does not hold their dtype: those are read. */
static int check_indices(const lw_plan *plan, int axis, int64_t extent) {
    lw_operand stored;
    lw_stored_operand(&plan->operands[1], &stored);
    int is_checked = plan->steps > 0 && !lw_devices[plan->placement.backend];
    int is_int32 = lw_item_size(stored.dtype) < 4 || stored.dtype == LW_INT32;
    if (is_int32 && (is_checked || (lw_device_of(&stored) && extent > 0))) {
        return 0;
    }
    lw_tensor *host = lw_copy_to(&stored, LW_INT64, lw_host_placement());
    int is_valid = host && lw_settle(host->storage) == 0;
    for (int64_t i = 0; is_valid && i < host->size; i++) {
        int64_t index = ((const int64_t *)host->data)[i];
        is_valid = check_index(stored.dtype == LW_UINT64 && index < 0 ? INT64_MAX : index, axis, extent) == 0;
    }
    Py_XDECREF((PyObject *)host);
    return is_valid ? 0 : -1;
}

/* What a kernel iterates over: the shape of the result, and for each of its dimensions the strides of x and of the
 * indices. The indexed axis of x is described by parameters instead. */
typedef struct gathered {
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    int64_t x_strides[LW_MAX_NDIM];
    int64_t index_strides[LW_MAX_NDIM];
} gathered;

/* Sets the parameters: the extent and the stride of the axis, for the kernel, and its number, for errors. */
static void set_axis(lw_plan *plan, const lw_operand *x, int axis, int named) {
    plan->parameters[0].i = x->shape[axis];
    plan->parameters[1].i = x->strides[axis];
    plan->parameters[2].i = named;
}

/* For the operation take: the result has the shape of x, with the dimensions of the indices in place of the axis. */
static int resolve_take(const lw_operand *x, const lw_operand *indices, int axis, gathered *result) {
    result->ndim = x->ndim - 1 + indices->ndim;
    if (result->ndim > LW_MAX_NDIM) {
        return lw_refuse(LW_SHAPE_ERROR, "expected a result of at most %d dimensions, got %d", LW_MAX_NDIM,
                         result->ndim);
    }
    int position = 0;
    for (int i = 0; i < axis; i++, position++) {
        result->shape[position] = x->shape[i];
        result->x_strides[position] = x->strides[i];
        result->index_strides[position] = 0;
    }
    for (int i = 0; i < indices->ndim; i++, position++) {
        result->shape[position] = indices->shape[i];
        result->x_strides[position] = 0;
        result->index_strides[position] = indices->strides[i];
    }
    for (int i = axis + 1; i < x->ndim; i++, position++) {
        result->shape[position] = x->shape[i];
        result->x_strides[position] = x->strides[i];
        result->index_strides[position] = 0;
    }
    return 0;
}

/* For the operation take_along_axis: there is one index per element of the result. x and the indices broadcast along
 * all axes but the indexed one. */
static int resolve_take_along_axis(const lw_operand *x, const lw_operand *indices, int axis, gathered *result) {
    if (x->ndim != indices->ndim) {
        return lw_refuse(LW_SHAPE_ERROR, "expected indices with %d dimensions, like x, got %d", x->ndim, indices->ndim);
    }
    int64_t shape[LW_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = indices->shape[axis];
    lw_operand both[2] = {*indices, {.data = x->data, .ndim = x->ndim, .shape = shape, .strides = x->strides}};
    result->ndim = lw_broadcast_shape(both, 2, result->shape);
    if (result->ndim < 0) {
        return -1;
    }
    lw_broadcast_strides(&both[0], result->ndim, result->shape, result->index_strides);
    lw_broadcast_strides(&both[1], result->ndim, result->shape, result->x_strides);
    result->x_strides[axis] = 0;
    return 0;
}

static void fill_layout(lw_plan *plan, const gathered *shape, const int64_t *first, const int64_t *last) {
    int64_t strides[3][LW_MAX_NDIM];
    memcpy(strides[0], first, sizeof strides[0]);
    memcpy(strides[1], shape->index_strides, sizeof strides[1]);
    memcpy(strides[2], last, sizeof strides[2]);
    lw_collapse(&plan->layout, shape->ndim, 0, shape->shape, 3, (const int64_t (*)[LW_MAX_NDIM])strides);
}

/* Makes x one-dimensional: a view if it is contiguous, else a row-major copy. */
static int flatten(lw_operand *x) {
    if (x->ndim != 1) {
        if (!x->contiguous && lw_copy_operand(x, x->dtype) < 0) {
            return -1;
        }
        x->copy_strides[0] = lw_item_size(x->dtype);
        x->strides = x->copy_strides;
        x->shape = &x->size;
        x->ndim = 1;
    }
    return 0;
}

/* Returns the axis of the call, by default the contract's, or -1 with an error set. If the axis is None, flattens x and
 * returns 0. */
static int resolve_gather_axis(const lw_arguments *arguments, lw_operand *x) {
    const lw_operation *operation = arguments->operation;
    int position = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    PyObject *axis = arguments->parameters[position];
    if (operation->parameters[position].default_is_none && (!axis || axis == Py_None)) {
        return flatten(x);
    }
    return lw_parse_axis_parameter(arguments, x->ndim);
}

/* Resolves take of a single index, a Python int, to a copy of what it selects. */
static int resolve_select(lw_plan *plan, int axis) {
    lw_operand *x = &plan->operands[0];
    int64_t index = *(const int32_t *)plan->operands[1].data;
    x->data += (index < 0 ? index + x->shape[axis] : index) * x->strides[axis];
    x->size /= x->shape[axis];
    x->ndim--;
    for (int i = 0; i < x->ndim; i++) {
        x->local_shape[i] = x->shape[i + (i >= axis)];
        x->local_strides[i] = x->strides[i + (i >= axis)];
    }
    x->shape = x->local_shape;
    x->strides = x->local_strides;
    x->contiguous = (uint8_t)lw_is_row_major(x->ndim, x->shape, x->strides, lw_item_size(x->dtype));
    plan->operation = &lw_operations[LW_OPERATION_copy];
    if (lw_set_kernel(plan, 0, x->dtype) < 0 || lw_set_result(plan, x->ndim, x->shape) < 0) {
        return -1;
    }
    lw_plan_elements(plan);
    return 0;
}

int lw_resolve_gather(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    lw_operand *x = &plan->operands[0], *indices = &plan->operands[1];
    if ((x->weakness != LW_STRONG && lw_convert_operand(x, lw_promoted_dtype(operation, x, 1)) < 0) ||
        lw_set_kernel(plan, 0, x->dtype) < 0) {
        return -1;
    }
    gathered shape;
    int is_selection = indices->weakness == LW_WEAK_INT && x->weakness == LW_STRONG && !arguments->out &&
                       lw_is_host(plan->placement.backend) && operation == &lw_operations[LW_OPERATION_take];
    int given_ndim = x->ndim, axis = resolve_gather_axis(arguments, x);
    int named = x->ndim == given_ndim ? axis : LW_FLATTENED;
    if (axis < 0 || convert_indices(indices, named, x->shape[axis]) < 0) {
        return -1;
    }
    if (is_selection && !x->is_copied) {
        return resolve_select(plan, axis);
    }
    int along = operation == &lw_operations[LW_OPERATION_take_along_axis];
    if ((along ? resolve_take_along_axis : resolve_take)(x, indices, axis, &shape) < 0) {
        return -1;
    }
    set_axis(plan, x, axis, named);
    plan->steps = lw_set_result(plan, shape.ndim, shape.shape);
    fill_layout(plan, &shape, shape.x_strides, plan->results[0].strides);
    return plan->steps < 0 ? -1 : check_indices(plan, named, x->shape[axis]);
}

/* Resolves put, which writes values (operand 0) to the positions that indices (operand 1) give along an axis. If an
 * index is out of range, the CPU's kernel writes nothing, and that of a device only leaves out this index. */
static int resolve_put(lw_plan *plan, const lw_tensor *target, int axis) {
    lw_operand *values = &plan->operands[0], *indices = &plan->operands[1], x;
    lw_operand_from_tensor((lw_tensor *)target, &x);
    gathered shape;
    if (lw_convert_operand(values, target->dtype) < 0 || convert_indices(indices, axis, target->shape[axis]) < 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) { /* the kernel reads operands while it writes */
        if (lw_overlaps(target, &plan->operands[i]) &&
            lw_copy_operand(&plan->operands[i], plan->operands[i].dtype) < 0) {
            return -1;
        }
    }
    if (resolve_take(&x, indices, axis, &shape) < 0) {
        return -1;
    }
    lw_operand both[2] = {*values, {.data = x.data, .ndim = (int8_t)shape.ndim, .shape = shape.shape}};
    int64_t broadcast[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    int ndim = lw_broadcast_shape(both, 2, broadcast);
    if (ndim < 0) {
        return -1;
    }
    if (ndim != shape.ndim || memcmp(broadcast, shape.shape, sizeof(int64_t) * (size_t)ndim) != 0) {
        return lw_refuse(LW_SHAPE_ERROR, "expected values that broadcast to shape %s, got shape %s",
                         lw_shape_text(shape.ndim, shape.shape), lw_shape_text(values->ndim, values->shape));
    }
    plan->kernel = plan->operation->kernels[0][target->dtype];
    plan->dtype = plan->result_dtype = target->dtype;
    set_axis(plan, &x, axis, axis);
    lw_broadcast_strides(values, ndim, broadcast, strides);
    fill_layout(plan, &shape, strides, shape.x_strides);
    plan->steps = lw_set_result(plan, ndim, broadcast);
    return plan->steps < 0 ? -1 : check_indices(plan, axis, x.shape[axis]);
}

/* put(target, indices, values, axis): writes target[..., indices, ...] = values, which may be a number. */
static PyObject *put_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 || !lw_is_tensor(arguments[0])) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (target, indices, values, axis), with a tensor as target");
    }
    lw_tensor *target = (lw_tensor *)arguments[0];
    int axis = lw_refuse_writing(target) ? -1 : lw_parse_axis(arguments[3], target->ndim);
    if (axis < 0) {
        return NULL;
    }
    PyObject *const inputs[2] = {arguments[2], arguments[1]};
    lw_plan plan;
    lw_placement placement = {target->backend, target->committed};
    lw_outcome outcome = lw_begin_plan(&lw_operations[LW_OPERATION_put], inputs, &placement, &plan);
    if (outcome == LW_NEEDS_PYTHON) {
        lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected indices and values that are tensors or buffers");
    }
    int is_done = outcome == LW_DONE && resolve_put(&plan, target, axis) == 0 &&
                  (plan.steps == 0 || lw_execute_into(&plan, target) == 0);
    lw_end_plan(&plan);
    if (!is_done) {
        lw_explain_range(target->dtype, arguments[2]);
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* Returns the positions of the true elements of a flat mask on a device, which no more than their number is read from:
 * cumulative_sum writes it behind them. */
static PyObject *select_positions(lw_tensor *mask) {
    const lw_operation *operation = &lw_operations[LW_OPERATION_cumulative_sum];
    int64_t places = mask->size + 1, item = lw_item_size(LW_INT32);
    lw_placement placement = {mask->backend, mask->committed};
    lw_plan plan = {.operation = operation,
                    .kernel = operation->kernels[0][LW_INT32],
                    .dtype = LW_INT32,
                    .result_dtype = LW_INT32,
                    .placement = placement,
                    .result_placement = placement,
                    .result_count = 1,
                    .steps = mask->size};
    lw_operand_from_tensor(mask, &plan.operands[0]);
    if (lw_set_result(&plan, 1, &places) < 0) {
        return NULL;
    }
    lw_plan_rows(&plan, 0);
    plan.layout.converted = 1;
    lw_tensor *result = (lw_tensor *)lw_execute(&plan, NULL), *view = NULL;
    PyObject *number = result ? lw_read_item(result, result->data + mask->size * item) : NULL;
    int64_t count = number ? PyLong_AsLongLong(number) : 0;
    if (number) {
        view = lw_tensor_view(result, result->data, 1, &count, &item);
    }
    Py_XDECREF(number);
    Py_XDECREF((PyObject *)result);
    return (PyObject *)view;
}

/* Returns a tensor on the host that says which elements are not zero, or NULL with an error set. */
static lw_tensor *mask_on_host(lw_tensor *tensor) {
    lw_tensor *host = lw_to_host(tensor);
    lw_tensor *mask = host ? lw_copy_tensor(host, LW_BOOL, (lw_placement){host->backend, 0}) : NULL;
    Py_XDECREF((PyObject *)host);
    return mask;
}

lw_tensor *lw_mask_positions(lw_tensor *mask) {
    lw_tensor *host = mask->dtype == LW_BOOL ? lw_to_host(mask) : mask_on_host(mask);
    int64_t count = 0;
    for (int64_t i = 0; host && i < host->size; i++) {
        count += host->data[i] != 0;
    }
    lw_tensor *result =
        host ? lw_tensor_new(LW_INT32, 1, &count, (lw_placement){host->backend, mask->committed}) : NULL;
    int32_t *positions = result ? (int32_t *)result->data : NULL;
    for (int64_t i = 0, next = 0; result && next < count; i++) { /* no branch: it would be hard to predict */
        positions[next] = (int32_t)i;
        next += host->data[i] != 0;
    }
    Py_XDECREF((PyObject *)host);
    return result;
}

/* mask_indices(mask): returns the row-major positions of the true elements. A mask of fewer than LARGE_MASK elements on
 * a device may have any dtype: the CPU searches it, and a launch to convert it would take longer than all of that. */
static PyObject *mask_indices_function(PyObject *module, PyObject *object) {
    enum { LARGE_MASK = 1 << 14 }; /* also in sorting.py */
    lw_tensor *mask = (lw_tensor *)object;
    int is_large = !lw_is_tensor(object) || mask->size >= LARGE_MASK || !mask->storage->device;
    if (!lw_is_tensor(object) || (mask->dtype != LW_BOOL && is_large) || mask->size > INT32_MAX) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected a bool tensor of fewer than 2^31 elements, got %S",
                        lw_describe(object));
    }
    const lw_device *device = mask->storage->device;
    if (device && device->reads_stored && is_large && mask->ndim == 1 && mask->contiguous) {
        return select_positions(mask);
    }
    lw_tensor *result = lw_mask_positions(mask);
    if (result && mask->storage->device) {
        lw_tensor *moved = lw_copy_tensor(result, LW_INT32, (lw_placement){mask->backend, mask->committed});
        Py_DECREF((PyObject *)result);
        result = moved;
    }
    return (PyObject *)result;
}

LW_NAMED_FAST("put", put_function)
LW_NAMED("mask_indices", mask_indices_function)

PyMethodDef lw_gather_functions[] = {
    {"put", (PyCFunction)(void *)named_put_function, METH_FASTCALL, NULL},
    {"mask_indices", named_mask_indices_function, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
