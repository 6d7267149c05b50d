/* Handles calls of reductions and row operations. The axes along which a kernel works come last in the layout. */
#include "arguments.h"
#include <string.h>

/* Fills `order` with the axes: first those that are kept, then those that are reduced. Returns the number of
 * reduced axes. */
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
                     "expected an axis with at least one element, got an empty one; check the size before the call");
        return 1;
    }
    if (extent > INT32_MAX && operation->kind == LW_KIND_INDEX_REDUCTION) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                     "expected an axis of at most 2147483647 elements, got %lld; split it", (long long)extent);
        return 1;
    }
    return 0;
}

/* The common shape of the inputs, and which of its axes are reduced. */
typedef struct reduction {
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    uint8_t reduced[LW_MAX_NDIM];
} reduction;

/* Fills the layout. The stride of `out` is 0 along reduced axes. */
static void fill_reduction_layout(lw_layout *layout, const reduction *r, const lw_operand *inputs, int count,
                                  int keepdims, const lw_tensor *out) {
    int order[LW_MAX_NDIM];
    int inner = order_axes(r->ndim, r->reduced, order);
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_INPUTS + 1][LW_MAX_NDIM];
    for (int operand = 0; operand < count; operand++) {
        int64_t own[LW_MAX_NDIM];
        lw_broadcast_strides(&inputs[operand], r->ndim, r->shape, own);
        for (int i = 0; i < r->ndim; i++) {
            strides[operand][i] = own[order[i]];
        }
    }
    for (int i = 0; i < r->ndim; i++) {
        shape[i] = r->shape[order[i]];
        strides[count][i] = i >= r->ndim - inner ? 0 : out->strides[keepdims ? order[i] : i];
    }
    lw_collapse(layout, r->ndim, inner, shape, count + 1, (const int64_t (*)[LW_MAX_NDIM])strides);
    if (inner == 0) {
        /* Inputs are 0-dimensional, or axis=(). Kernels need an axis to reduce, so append one of extent 1. */
        layout->inner = 1;
        layout->shape[layout->ndim] = 1;
        for (int operand = 0; operand <= count; operand++) {
            layout->strides[operand][layout->ndim] = 0;
        }
        layout->ndim++;
    }
}

/* Parses the axis argument, or its default. An operation without an axis parameter reduces all axes. */
static int parse_reduction_axes(const lw_arguments *arguments, reduction *r) {
    const lw_operation *operation = arguments->operation;
    int index = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    PyObject *axes = index < 0 ? NULL : arguments->parameters[index];
    if (axes || index < 0 || operation->parameters[index].default_is_none) {
        return lw_parse_axes(axes, r->ndim, r->reduced);
    }
    axes = PyLong_FromLongLong(operation->parameters[index].default_value.i);
    int status = axes ? lw_parse_axes(axes, r->ndim, r->reduced) : -1;
    Py_XDECREF(axes);
    return status;
}

/* Determines the common shape of the inputs, and the reduced axes. Inputs do not broadcast along reduced axes. */
static int resolve_reduction(const lw_arguments *arguments, const lw_operand *inputs, reduction *r) {
    const lw_operation *operation = arguments->operation;
    int count = operation->input_count;
    r->ndim = lw_broadcast_shape(inputs, count, r->shape);
    if (r->ndim < 0 || parse_reduction_axes(arguments, r) < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        for (int axis = 0; axis < r->ndim; axis++) {
            int own = axis - (r->ndim - inputs[i].ndim);
            if (r->reduced[axis] && (own < 0 || inputs[i].shape[own] != r->shape[axis])) {
                char first[LW_SHAPE_TEXT], second[LW_SHAPE_TEXT];
                PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                             "expected shapes that are equal along the reduced axes, got %s and %s",
                             lw_shape_text(first, inputs[0].ndim, inputs[0].shape),
                             lw_shape_text(second, inputs[count - 1].ndim, inputs[count - 1].shape));
                return -1;
            }
        }
    }
    return 0;
}

static PyObject *compute_reduction(const lw_arguments *arguments, lw_operand *x, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int count = operation->input_count;
    int axis_parameter = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    int keepdims_parameter = lw_find_parameter(operation, LW_PARAMETER_KEEPDIMS);
    PyObject *axes = axis_parameter < 0 ? NULL : arguments->parameters[axis_parameter];
    reduction r;
    lw_scalar parameters[LW_MAX_PARAMETERS];
    int keepdims = 0;
    if (keepdims_parameter >= 0 && arguments->parameters[keepdims_parameter]) {
        keepdims = lw_parse_bool("keepdims", arguments->parameters[keepdims_parameter]);
    }
    if (keepdims < 0 || lw_parse_kernel_parameters(arguments, parameters) < 0 ||
        resolve_reduction(arguments, x, &r) < 0) {
        return NULL;
    }
    if (operation->kind == LW_KIND_INDEX_REDUCTION && axes && (lw_is_tuple(axes) || lw_is_list(axes))) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "expected an int or None for axis, got %S; None flattens the tensor", lw_describe(axes));
    }
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, x, count), x, count);
    for (int i = 0; i < count; i++) {
        if (dtype < 0 || lw_cast_operand(&x[i], dtype) < 0) {
            return NULL;
        }
    }
    int64_t extent = reduced_extent(r.ndim, r.shape, r.reduced);
    if (refuse_extent(operation, extent)) {
        return NULL;
    }
    int64_t shape[LW_MAX_NDIM];
    int ndim = 0;
    for (int axis = 0; axis < r.ndim; axis++) {
        if (!r.reduced[axis] || keepdims) {
            shape[ndim++] = r.reduced[axis] ? 1 : r.shape[axis];
        }
    }
    lw_tensor *out = lw_prepare_output(arguments->out, operation->results[dtype], ndim, shape, x, count, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    lw_layout layout;
    fill_reduction_layout(&layout, &r, x, count, keepdims, out);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, x, parameters,
                       (extent / 2 + 1) * out->size);
}

PyObject *lw_call_reduction(const lw_arguments *arguments) {
    return lw_call_with_operands(arguments, compute_reduction);
}

/* Checks the weight or bias of a row operation: it must have one value per element of a row. */
static int check_row_operand(const lw_operation *operation, int input, const lw_operand *operand, int64_t row) {
    if (operand->ndim == 1 && operand->shape[0] == row) {
        return 0;
    }
    char got[LW_SHAPE_TEXT];
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected %s of shape (%lld,), one value per element of a row, got %s",
                 operation->inputs[input].name, (long long)row, lw_shape_text(got, operand->ndim, operand->shape));
    return -1;
}

static PyObject *compute_rows(const lw_arguments *arguments, lw_operand *operands, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int count = operation->input_count;
    lw_operand *x = &operands[0];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    int axis_parameter = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    PyObject *axis_object = axis_parameter < 0 ? NULL : arguments->parameters[axis_parameter];
    if (x->ndim == 0 && !operation->takes_number) {
        return PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                            "expected a tensor of at least 1 dimension, got a 0-dimensional one");
    }
    if (axis_parameter >= 0 && operation->parameters[axis_parameter].default_is_none) {
        axis_object = axis_object == Py_None ? NULL : axis_object;
        if (!axis_object && x->ndim > 1) {
            return PyErr_Format(lw_error_class(LW_AXIS_ERROR),
                                "expected an axis for a tensor of %d dimensions, got none; pass axis=", x->ndim);
        }
    }
    int dimensions = x->ndim ? x->ndim : 1; /* a 0-dimensional tensor is a row of one element */
    int axis = axis_object ? lw_parse_axis(axis_object, dimensions) : dimensions - 1;
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, operands, count), operands, count);
    if (axis < 0 || dtype < 0 || lw_parse_kernel_parameters(arguments, parameters) < 0 ||
        refuse_extent(operation, x->ndim ? x->shape[axis] : 1)) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (operands[i].data && (lw_cast_operand(&operands[i], dtype) < 0 ||
                                 (i > 0 && check_row_operand(operation, i, &operands[i], x->shape[axis]) < 0))) {
            return NULL;
        }
    }
    lw_tensor *out = lw_prepare_output(arguments->out, operation->results[dtype], x->ndim, x->shape, operands, count,
                                       operation->in_place, place);
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
            strides[operand][i] = operands[operand].data && i == x->ndim - 1 ? operands[operand].strides[0] : 0;
        }
        strides[count][i] = out->strides[order[i]];
    }
    lw_layout layout;
    lw_collapse(&layout, x->ndim, 1, shape, count + 1, (const int64_t (*)[LW_MAX_NDIM])strides);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, operands, parameters,
                       out->size << operation->complexity);
}

PyObject *lw_call_rows(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_rows); }
