/* Calls of reductions and row operations: the axes that a kernel works along are moved behind the others. */
#include "call.h"
#include "errors.h"
#include <string.h>

/* Kept axes first, then the reduced ones, each in their order. Returns the number of reduced axes. */
static int order_axes(int ndim, const uint8_t *reduced, int *order) {
    int position = 0;
    for (int axis = 0; axis < ndim; axis++) {
        if (!reduced[axis]) {
            order[position++] = axis;
        }
    }
    int inner = ndim - position;
    for (int axis = 0; axis < ndim; axis++) {
        if (reduced[axis]) {
            order[position++] = axis;
        }
    }
    return inner;
}

static int64_t reduced_extent(int ndim, const int64_t *shape, const uint8_t *reduced) {
    int64_t extent = 1;
    for (int axis = 0; axis < ndim; axis++) {
        extent *= reduced[axis] ? shape[axis] : 1;
    }
    return extent;
}

static int refuse_extent(const lw_operation *operation, int64_t extent) {
    if (extent == 0 && operation->refuses_empty) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                     "%s: the axis has no elements, at least one is wanted; check the size before the call",
                     operation->name);
        return 1;
    }
    if (extent > INT32_MAX && operation->kind == LW_KIND_INDEX_REDUCTION) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                     "%s: the axis has %lld elements; int32 results count up to 2147483647, so split it",
                     operation->name, (long long)extent);
        return 1;
    }
    return 0;
}

/* Walks x and out together; out stands still along the reduced axes. */
static void lay_out(lw_layout *layout, const lw_operand *x, const uint8_t *reduced, int keepdims,
                    const lw_tensor *out) {
    int order[LW_MAX_NDIM];
    int inner = order_axes(x->ndim, reduced, order);
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[2][LW_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++) {
        int axis = order[i];
        shape[i] = x->shape[axis];
        strides[0][i] = x->strides[axis];
        strides[1][i] = i >= x->ndim - inner ? 0 : out->strides[keepdims ? axis : i];
    }
    lw_collapse(layout, x->ndim, inner, shape, 2, (const int64_t (*)[LW_MAX_NDIM])strides);
    if (inner == 0) { /* a 0-dimensional x, or axis=(): one element each */
        layout->inner = 1;
        layout->shape[layout->ndim] = 1;
        layout->strides[0][layout->ndim] = layout->strides[1][layout->ndim] = 0;
        layout->ndim++;
    }
}

static PyObject *reduce(const lw_arguments *arguments, lw_operand *x, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int axis_parameter = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    int keepdims_parameter = lw_find_parameter(operation, LW_PARAMETER_KEEPDIMS);
    uint8_t reduced[LW_MAX_NDIM];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    PyObject *axes = axis_parameter < 0 ? NULL : arguments->parameters[axis_parameter];
    int keepdims = 0;
    if (keepdims_parameter >= 0 && arguments->parameters[keepdims_parameter]) {
        keepdims = lw_truth_from(operation->name, "keepdims", arguments->parameters[keepdims_parameter]);
    }
    if (keepdims < 0 || lw_kernel_parameters(arguments, parameters) < 0 ||
        lw_axes_from(operation->name, axes, x->ndim, reduced) < 0) {
        return NULL;
    }
    if (operation->kind == LW_KIND_INDEX_REDUCTION && axes && (lw_is_tuple(axes) || lw_is_list(axes))) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "%s: axis is %R; an int is wanted, or None for the flattened tensor", operation->name,
                            axes);
    }
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, x, 1));
    if (dtype < 0 || lw_operand_cast(operation->name, x, dtype) < 0) {
        return NULL;
    }
    int64_t extent = reduced_extent(x->ndim, x->shape, reduced);
    if (refuse_extent(operation, extent)) {
        return NULL;
    }
    int64_t shape[LW_MAX_NDIM];
    int ndim = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        if (!reduced[axis] || keepdims) {
            shape[ndim++] = reduced[axis] ? 1 : x->shape[axis];
        }
    }
    lw_tensor *out = lw_output(operation->name, arguments->out, operation->results[dtype], ndim, shape, x, 1, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    lw_layout layout;
    lay_out(&layout, x, reduced, keepdims, out);
    const void *inputs[1] = {x->data};
    void *outputs[1] = {out->data};
    if (lw_run(operation, place.backend, operation->kernels[0][dtype], &layout, inputs, outputs, parameters,
               (extent + 1) * out->size) < 0) {
        Py_DECREF((PyObject *)out);
        return NULL;
    }
    return (PyObject *)out;
}

PyObject *lw_call_reduction(const lw_arguments *arguments) {
    lw_operand x;
    lw_place place;
    lw_taken status = lw_take_inputs(arguments->operation, arguments->inputs, &x, &place);
    PyObject *result = status == LW_TAKEN ? reduce(arguments, &x, place) : NULL;
    lw_operands_release(&x, 1);
    return status == LW_NOT_MINE ? lw_call_python(arguments) : result;
}

/* A weight or bias of a row operation: one value an element of the row. */
static int check_row_operand(const lw_operation *operation, int input, const lw_operand *operand, int64_t row) {
    if (operand->ndim == 1 && operand->shape[0] == row) {
        return 0;
    }
    char given[LW_SHAPE_TEXT];
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "%s: %s has shape %s; one dimension of the row's %lld is wanted",
                 operation->name, operation->inputs[input].name, lw_shape_text(given, operand->ndim, operand->shape),
                 (long long)row);
    return -1;
}

static PyObject *compute_rows(const lw_arguments *arguments, lw_operand *operands, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int count = operation->input_count;
    lw_operand *x = &operands[0];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    int axis_parameter = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    PyObject *axis_object = axis_parameter < 0 ? NULL : arguments->parameters[axis_parameter];
    if (x->ndim == 0) {
        return PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                            "%s: the input has no dimension; at least one is wanted, the row", operation->name);
    }
    int axis = axis_object ? lw_axis_from(operation->name, axis_object, x->ndim) : x->ndim - 1;
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, operands, count));
    if (axis < 0 || dtype < 0 || lw_kernel_parameters(arguments, parameters) < 0 ||
        refuse_extent(operation, x->shape[axis])) {
        return NULL;
    }
    const void *inputs[LW_MAX_OPERANDS];
    for (int i = 0; i < count; i++) {
        if (operands[i].data && (lw_operand_cast(operation->name, &operands[i], dtype) < 0 ||
                                 (i > 0 && check_row_operand(operation, i, &operands[i], x->shape[axis]) < 0))) {
            return NULL;
        }
        inputs[i] = operands[i].data;
    }
    lw_tensor *out = lw_output(operation->name, arguments->out, operation->results[dtype], x->ndim, x->shape, operands,
                               count, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    uint8_t is_row[LW_MAX_NDIM] = {0};
    is_row[axis] = 1;
    int order[LW_MAX_NDIM];
    order_axes(x->ndim, is_row, order);
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++) {
        shape[i] = x->shape[order[i]];
        strides[0][i] = x->strides[order[i]];
        for (int operand = 1; operand < count; operand++) {
            strides[operand][i] = inputs[operand] && i == x->ndim - 1 ? operands[operand].strides[0] : 0;
        }
        strides[count][i] = out->strides[order[i]];
    }
    lw_layout layout;
    lw_collapse(&layout, x->ndim, 1, shape, count + 1, (const int64_t (*)[LW_MAX_NDIM])strides);
    void *outputs[1] = {out->data};
    if (lw_run(operation, place.backend, operation->kernels[0][dtype], &layout, inputs, outputs, parameters,
               out->size << operation->complexity) < 0) {
        Py_DECREF((PyObject *)out);
        return NULL;
    }
    return (PyObject *)out;
}

PyObject *lw_call_rows(const lw_arguments *arguments) {
    lw_operand operands[LW_MAX_INPUTS];
    lw_place place;
    lw_taken status = lw_take_inputs(arguments->operation, arguments->inputs, operands, &place);
    PyObject *result = status == LW_TAKEN ? compute_rows(arguments, operands, place) : NULL;
    lw_operands_release(operands, arguments->operation->input_count);
    return status == LW_NOT_MINE ? lw_call_python(arguments) : result;
}
