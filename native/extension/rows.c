/* Handles calls of row operations, such as softmax, whose results depend on all elements of a row. */
#include "arguments.h"

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
        lw_refuse_extent(operation, x->ndim ? x->shape[axis] : 1)) {
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
    lw_order_axes(x->ndim, is_row, order);
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
