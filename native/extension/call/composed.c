/* Handles frequent and simple calls of operations that are otherwise composed in Python, which takes longer than their
 * kernels need for a hundred elements. */
#include "call/call.h"
#include "lanewise_operations.h"
#include "python/errors.h"
#include "python/python.h"
#include "tensor/tensor.h"

/* Returns the tensor that is an argument's value, or NULL. */
static lw_tensor *tensor_at(const lw_arguments *arguments, int position) {
    PyObject *object = arguments->positional[position];
    return lw_is_tensor(object) ? (lw_tensor *)object : NULL;
}

static lw_tensor *with_axis_behind(lw_tensor *vector) {
    const int64_t shape[2] = {vector->shape[0], 1}, strides[2] = {vector->strides[0], 0};
    return lw_tensor_view(vector, vector->data, 2, shape, strides);
}

/* Calls a function of two tensors of the right shapes. Returns 0, without an error set, for others. */
static PyObject *call_on_tensors(const lw_arguments *arguments) {
    const lw_operation *operation = arguments->operation, *matmul = &lw_operations[LW_OPERATION_matmul];
    lw_tensor *first = tensor_at(arguments, 0), *second = tensor_at(arguments, 1);
    if (!first || !second) {
        return NULL;
    }
    int last = first->ndim - 1;
    PyObject *inputs[LW_MAX_INPUTS] = {(PyObject *)first, (PyObject *)second};
    if (operation == &lw_operations[LW_OPERATION_matvec]) {
        int fits = last >= 1 && second->ndim == 1 && first->shape[last] == second->shape[0];
        return fits ? lw_call_inputs(matmul, inputs, NULL) : NULL;
    }
    if (operation == &lw_operations[LW_OPERATION_vecmat]) {
        int fits = last == 0 && second->ndim >= 2 && second->shape[second->ndim - 2] == first->shape[0];
        return fits ? lw_call_inputs(matmul, inputs, NULL) : NULL;
    }
    if (operation == &lw_operations[LW_OPERATION_outer] && last == 0 && second->ndim == 1) {
        inputs[0] = (PyObject *)with_axis_behind(first);
        PyObject *product = inputs[0] ? lw_call_inputs(&lw_operations[LW_OPERATION_multiply], inputs, NULL) : NULL;
        Py_XDECREF(inputs[0]);
        return product;
    }
    if (operation == &lw_operations[LW_OPERATION_embedding] && !first->storage->device) {
        PyObject *axis = PyLong_FromLongLong(0), *parameters[LW_MAX_PARAMETERS] = {axis};
        PyObject *swapped[LW_MAX_INPUTS] = {inputs[1], inputs[0]};
        lw_arguments take = {.operation = &lw_operations[LW_OPERATION_take], .inputs = swapped};
        take.parameters = parameters;
        PyObject *rows = axis ? lw_handle(&take) : NULL;
        Py_XDECREF(axis);
        return rows;
    }
    return NULL;
}

/* Calls zeros or ones with an int or a tuple of ints, and perhaps a dtype. */
static PyObject *call_filled(const lw_arguments *arguments, int value) {
    PyObject *shape_given = arguments->positional[0], *dtype_given = NULL;
    Py_ssize_t keywords = arguments->keyword_names ? PyTuple_Size(arguments->keyword_names) : 0;
    int64_t shape[LW_MAX_NDIM];
    if (keywords == 1) {
        PyObject *name = PyTuple_GetItem(arguments->keyword_names, 0);
        if (arguments->positional_count != 1 || PyUnicode_CompareWithASCIIString(name, "dtype") != 0) {
            return NULL;
        }
    }
    if (arguments->positional_count + keywords == 2) {
        dtype_given = arguments->positional[1];
    }
    if (keywords > 1 || arguments->positional_count > 2 || !(lw_is_int(shape_given) || lw_is_tuple(shape_given))) {
        return NULL;
    }
    int dtype = !dtype_given || dtype_given == Py_None ? lw_default_floating : lw_parse_dtype(dtype_given);
    int ndim = dtype < 0 ? -1 : lw_parse_shape("shape", shape_given, shape);
    for (int i = 0; i < ndim; i++) {
        ndim = shape[i] < 0 ? -1 : ndim;
    }
    if (ndim < 0) {
        PyErr_Clear(); /* Python raises the error */
        return NULL;
    }
    return lw_create_full(ndim, shape, dtype, value);
}

PyObject *lw_call_composed(const lw_arguments *arguments) {
    const lw_operation *operation = arguments->operation;
    if (arguments->self || arguments->positional_count < 1) {
        return NULL;
    }
    if (operation == &lw_operations[LW_OPERATION_zeros] || operation == &lw_operations[LW_OPERATION_ones]) {
        return call_filled(arguments, operation == &lw_operations[LW_OPERATION_ones]);
    }
    return arguments->positional_count == 2 && !arguments->keyword_names ? call_on_tensors(arguments) : NULL;
}
