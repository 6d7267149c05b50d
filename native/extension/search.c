/* Handles calls of searchsorted, which finds the positions of values in a sorted one-dimensional tensor. */
#include "call.h"
#include "errors.h"
#include "exchange.h"
#include "lanewise_operations.h"

static int check_row(const lw_operand *row) {
    if (row->ndim == 1 && row->shape[0] <= INT32_MAX) {
        return 0;
    }
    char got[LW_SHAPE_TEXT];
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                 "expected x1 of one dimension and at most 2147483647 elements, got shape %s",
                 lw_shape_text(got, row->ndim, row->shape));
    return -1;
}

static PyObject *compute_search(const lw_arguments *arguments, lw_operand *operands, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_operand *row = &operands[0], *x = &operands[1];
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, operands, 2), operands, 2);
    lw_scalar parameters[2 + LW_MAX_PARAMETERS];
    if (check_row(row) < 0 || dtype < 0 || lw_cast_operand(row, dtype) < 0 || lw_cast_operand(x, dtype) < 0 ||
        lw_parse_kernel_parameters(arguments, parameters + 2) < 0) {
        return NULL;
    }
    parameters[0].i = row->shape[0];
    parameters[1].i = row->strides[0];
    lw_tensor *out =
        lw_prepare_output(arguments->out, operation->results[dtype], x->ndim, x->shape, operands, 2, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    int64_t strides[4][LW_MAX_NDIM] = {{0}};
    for (int i = 0; i < x->ndim; i++) {
        strides[1][i] = x->strides[i];
        strides[3][i] = out->strides[i];
    }
    lw_layout layout;
    lw_collapse(&layout, x->ndim, 0, x->shape, 4, (const int64_t (*)[LW_MAX_NDIM])strides);
    int steps = 64 - __builtin_clzll((unsigned long long)row->shape[0] | 1);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, operands, parameters,
                       16 * out->size * steps);
}

static int check_sorter(lw_tensor *row, const lw_tensor *sorter) {
    lw_operand operand;
    lw_operand_from_tensor(row, &operand);
    if (check_row(&operand) < 0) {
        return -1;
    }
    if (sorter->ndim == 1 && sorter->size == row->size) {
        return 0;
    }
    char got[LW_SHAPE_TEXT];
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected sorter of shape (%lld,), as argsort(x1) returns, got %s",
                 (long long)row->size, lw_shape_text(got, sorter->ndim, sorter->shape));
    return -1;
}

/* Returns x1[sorter]. */
static PyObject *sort_by_sorter(const lw_arguments *arguments) {
    lw_tensor *row = lw_tensor_from_object(arguments->inputs[0]);
    lw_tensor *sorter = row ? lw_tensor_from_object(arguments->inputs[2]) : NULL;
    PyObject *const inputs[2] = {(PyObject *)row, (PyObject *)sorter};
    int fits = sorter && check_sorter(row, sorter) == 0;
    PyObject *taken = fits ? lw_call_inputs(&lw_operations[LW_OPERATION_take], inputs, NULL) : NULL;
    Py_XDECREF((PyObject *)row);
    Py_XDECREF((PyObject *)sorter);
    return taken;
}

static PyObject *call_with_sorter(const lw_arguments *arguments) {
    PyObject *row = sort_by_sorter(arguments);
    if (!row) {
        return PyErr_Occurred() ? NULL : lw_call_python(arguments);
    }
    PyObject *const inputs[3] = {row, arguments->inputs[1], NULL};
    lw_arguments sorted = *arguments;
    sorted.inputs = inputs;
    PyObject *result = lw_call_search(&sorted);
    Py_DECREF(row);
    return result;
}

PyObject *lw_call_search(const lw_arguments *arguments) {
    if (arguments->inputs[2]) {
        return call_with_sorter(arguments);
    }
    return lw_call_with_operands(arguments, compute_search);
}
