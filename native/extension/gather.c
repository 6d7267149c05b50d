/* Implements take, take_along_axis, put and mask_indices. The kernels depend on the item size only, not on the dtype,
 * and read int32 indices. */
#include "arguments.h"
#include "lanewise_operations.h"
#include <string.h>

/* Converts indices to int32. Raises an error for int64 indices beyond int32, and for other dtypes. `axis` is as in
 * lw_raise_index(). */
static int convert_indices(lw_operand *indices, int axis, int64_t extent) {
    if (indices->weakness == LW_WEAK_INT || indices->weakness == LW_WEAK_BIG_INT ||
        (indices->weakness == LW_STRONG && indices->dtype == LW_INT32)) {
        return lw_cast_operand(indices, LW_INT32);
    }
    if (indices->weakness != LW_STRONG || indices->dtype != LW_INT64) {
        int dtype = indices->weakness == LW_STRONG ? indices->dtype : LW_FLOAT32;
        PyErr_Format(lw_error_class(LW_DTYPE_ERROR), "expected indices of int32 or int64, got %s; use astype",
                     indices->weakness == LW_WEAK_BOOL ? "bool" : lw_dtype_name(dtype));
        return -1;
    }
    lw_tensor *wide = lw_cast(indices, LW_INT64);
    const int64_t *values = wide ? (const int64_t *)wide->data : NULL;
    for (int64_t i = 0; wide && i < wide->size; i++) {
        if (values[i] != (int32_t)values[i]) {
            lw_raise_index(values[i], axis, extent);
            Py_DECREF((PyObject *)wide);
            return -1;
        }
    }
    Py_XDECREF((PyObject *)wide);
    return wide ? lw_cast_operand(indices, LW_INT32) : -1;
}

/* What a kernel iterates over: the shape of the result, and for each of its dimensions the strides of x and of the
 * indices. The indexed axis of x is described by `parameters` instead. */
typedef struct gather_plan {
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    int64_t x_strides[LW_MAX_NDIM];
    int64_t index_strides[LW_MAX_NDIM];
    lw_scalar parameters[3]; /* the axis: its extent and stride, for the kernel; its number, for errors */
} gather_plan;

/* Plans the operation take: the result has the shape of x, with the dimensions of the indices in place of the axis. */
static int plan_take(const lw_operand *x, const lw_operand *indices, int axis, gather_plan *result) {
    result->ndim = x->ndim - 1 + indices->ndim;
    if (result->ndim > LW_MAX_NDIM) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected a result of at most %d dimensions, got %d", LW_MAX_NDIM,
                     result->ndim);
        return -1;
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
    result->parameters[0].i = x->shape[axis];
    result->parameters[1].i = x->strides[axis];
    return 0;
}

/* Plans the operation take_along_axis: there is one index per element of the result. x and the indices broadcast along
 * all axes but the indexed one. */
static int plan_take_along_axis(const lw_operand *x, const lw_operand *indices, int axis, gather_plan *result) {
    if (x->ndim != indices->ndim) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected indices with %d dimensions, like x, got %d", x->ndim,
                     indices->ndim);
        return -1;
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
    result->parameters[0].i = x->shape[axis];
    result->parameters[1].i = x->strides[axis];
    return 0;
}

static void fill_gather_layout(lw_layout *layout, const gather_plan *shape, const int64_t *first, const int64_t *last) {
    int64_t strides[3][LW_MAX_NDIM];
    memcpy(strides[0], first, sizeof strides[0]);
    memcpy(strides[1], shape->index_strides, sizeof strides[1]);
    memcpy(strides[2], last, sizeof strides[2]);
    lw_collapse(layout, shape->ndim, 0, shape->shape, 3, (const int64_t (*)[LW_MAX_NDIM])strides);
}

/* Makes x one-dimensional: a view if it is contiguous, else a row-major copy. */
static int flatten(lw_operand *x) {
    int64_t size = 1;
    for (int i = 0; i < x->ndim; i++) {
        size *= x->shape[i];
    }
    if (x->ndim != 1 && !x->contiguous) {
        lw_tensor *copy = lw_cast(x, x->dtype);
        if (!copy) {
            return -1;
        }
        lw_release_operand(x);
        lw_operand_from_tensor(copy, x);
        x->owned = (PyObject *)copy;
    }
    if (x->ndim != 1) {
        x->ndim = 1;
        x->local_shape[0] = size;
        x->local_strides[0] = lw_item_size(x->dtype);
        x->shape = x->local_shape;
        x->strides = x->local_strides;
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

static PyObject *compute_gather(const lw_arguments *arguments, lw_operand *operands, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_operand *x = &operands[0], *indices = &operands[1];
    if (x->weakness != LW_STRONG && lw_cast_operand(x, lw_computed_dtype(operation, x, 1)) < 0) {
        return NULL;
    }
    gather_plan shape;
    int given_ndim = x->ndim, axis = resolve_gather_axis(arguments, x);
    int named = x->ndim == given_ndim ? axis : LW_FLATTENED;
    if (axis < 0 || convert_indices(indices, named, x->shape[axis]) < 0) {
        return NULL;
    }
    shape.parameters[2].i = named;
    int along = operation == &lw_operations[LW_OPERATION_take_along_axis];
    if ((along ? plan_take_along_axis : plan_take)(x, indices, axis, &shape) < 0) {
        return NULL;
    }
    lw_tensor *out = lw_prepare_output(arguments->out, x->dtype, shape.ndim, shape.shape, operands, 2, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    lw_layout layout;
    fill_gather_layout(&layout, &shape, shape.x_strides, out->strides);
    return lw_run_into(out, operation, place, operation->kernels[0][x->dtype], &layout, operands, shape.parameters,
                       16 * out->size);
}

PyObject *lw_call_gather(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_gather); }

/* Writes `values`, which have the target's dtype, to the positions `indices` along the axis. If an index is out of
 * range, writes nothing. */
static int put_values(lw_tensor *target, lw_operand *indices, lw_operand *values, int axis) {
    const lw_operation *operation = &lw_operations[LW_OPERATION_put];
    lw_operand x;
    gather_plan shape;
    lw_operand_from_tensor(target, &x);
    shape.parameters[2].i = axis;
    if (convert_indices(indices, axis, target->shape[axis]) < 0 || plan_take(&x, indices, axis, &shape) < 0) {
        return -1;
    }
    lw_operand both[2] = {*values, {.data = x.data, .ndim = (int8_t)shape.ndim, .shape = shape.shape}};
    int64_t broadcast[LW_MAX_NDIM];
    int ndim = lw_broadcast_shape(both, 2, broadcast);
    if (ndim < 0) {
        return -1;
    }
    if (ndim != shape.ndim || memcmp(broadcast, shape.shape, sizeof(int64_t) * (size_t)ndim) != 0) {
        char expected[LW_SHAPE_TEXT], got[LW_SHAPE_TEXT];
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected values that broadcast to shape %s, got shape %s",
                     lw_shape_text(expected, shape.ndim, shape.shape), lw_shape_text(got, values->ndim, values->shape));
        return -1;
    }
    int64_t size = 1;
    for (int i = 0; i < ndim; i++) {
        size *= broadcast[i];
    }
    if (size == 0) {
        return 0;
    }
    int64_t strides[LW_MAX_NDIM];
    lw_broadcast_strides(values, ndim, broadcast, strides);
    lw_layout layout;
    fill_gather_layout(&layout, &shape, strides, shape.x_strides);
    const void *inputs[2] = {values->data, indices->data};
    void *outputs[1] = {target->data};
    return lw_run(target->backend, operation->kernels[0][target->dtype], &layout, inputs, outputs, shape.parameters,
                  size);
}

/* Replaces an operand by a copy if it overlaps the target, because the kernel reads operands while it writes. */
static int copy_if_overlapping(const lw_tensor *target, lw_operand *operand) {
    if (!lw_overlaps(target, operand)) {
        return 0;
    }
    lw_tensor *copied = lw_cast(operand, operand->dtype);
    if (!copied) {
        return -1;
    }
    lw_release_operand(operand);
    lw_operand_from_tensor(copied, operand);
    operand->owned = (PyObject *)copied;
    return 0;
}

static PyObject *put_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    if (count != 4 || !lw_is_tensor(arguments[0])) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "expected (target, indices, values, axis), with a tensor as target");
    }
    lw_tensor *target = (lw_tensor *)arguments[0];
    if (target->read_only) {
        return PyErr_Format(lw_error_class(LW_READ_ONLY_ERROR),
                            "expected a writable tensor, got a read-only one; write to a copy of it");
    }
    int axis = lw_parse_axis(arguments[3], target->ndim);
    if (axis < 0) {
        return NULL;
    }
    lw_operand operands[2] = {{.has_view = 0}, {.has_view = 0}};
    int done = -1;
    if (lw_read_operand(arguments[1], &operands[0]) == LW_DONE &&
        lw_read_operand(arguments[2], &operands[1]) == LW_DONE && lw_cast_operand(&operands[1], target->dtype) == 0) {
        if (copy_if_overlapping(target, &operands[0]) == 0 && copy_if_overlapping(target, &operands[1]) == 0) {
            done = put_values(target, &operands[0], &operands[1], axis);
        }
    } else if (!PyErr_Occurred()) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR), "expected indices and values that are tensors or buffers");
    }
    lw_release_operands(operands, 2);
    if (done < 0) {
        return NULL;
    }
    Py_INCREF(Py_None);
    return Py_None;
}

/* mask_indices(mask): returns the row-major positions of the true elements. */
static PyObject *mask_indices_function(PyObject *module, PyObject *object) {
    (void)module;
    lw_tensor *mask = (lw_tensor *)object;
    if (!lw_is_tensor(object) || mask->dtype != LW_BOOL || !lw_is_host(mask->backend) || mask->size > INT32_MAX) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "expected a bool tensor of fewer than 2^31 elements on the CPU, got %S",
                            lw_describe(object));
    }
    lw_operand operand;
    lw_operand_from_tensor(mask, &operand);
    lw_tensor *flat = lw_cast(&operand, LW_BOOL);
    int64_t count = 0;
    for (int64_t i = 0; flat && i < flat->size; i++) {
        count += flat->data[i] != 0;
    }
    lw_tensor *result = flat ? lw_tensor_new(LW_INT32, 1, &count, mask->backend, mask->committed) : NULL;
    int32_t *positions = result ? (int32_t *)result->data : NULL;
    for (int64_t i = 0, next = 0; result && next < count; i++) { /* no branch: it would be hard to predict */
        positions[next] = (int32_t)i;
        next += flat->data[i] != 0;
    }
    Py_XDECREF((PyObject *)flat);
    return (PyObject *)result;
}

LW_NAMED_FAST("put", put_function)
LW_NAMED("mask_indices", mask_indices_function)

PyMethodDef lw_gather_functions[] = {
    {"put", (PyCFunction)(void *)named_put_function, METH_FASTCALL, NULL},
    {"mask_indices", named_mask_indices_function, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
