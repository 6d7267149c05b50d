/* Handles calls of sort and argsort. Also computes the first indices of argsort, for topk (lanewise/sorting.py). */
#include "arguments.h"
#include "lanewise_operations.h"

/* Computes sort or argsort along an axis. Keeps the first `count` results along it, or all if `count` is negative. */
static PyObject *sort_along(const lw_operation *operation, lw_operand *x, int axis, int64_t count, int descending,
                            PyObject *out_argument, lw_place place) {
    int64_t extent = x->shape[axis];
    if (extent > INT32_MAX) {
        return PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                            "expected an axis of at most 2147483647 elements, got %lld; split it", (long long)extent);
    }
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, x, 1), x, 1);
    if (dtype < 0 || lw_cast_operand(x, dtype) < 0) {
        return NULL;
    }
    int64_t shape[LW_MAX_NDIM], moved[LW_MAX_NDIM], strides[2][LW_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++) {
        shape[i] = i == axis && count >= 0 ? count : x->shape[i];
    }
    lw_tensor *out = lw_prepare_output(out_argument, operation->results[dtype], x->ndim, shape, x, 1, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    for (int i = 0; i < x->ndim; i++) { /* put the axis last */
        int source = i == x->ndim - 1 ? axis : i + (i >= axis);
        moved[i] = x->shape[source];
        strides[0][i] = x->strides[source];
        strides[1][i] = out->strides[source];
    }
    lw_layout layout;
    lw_collapse(&layout, x->ndim, 1, moved, 2, (const int64_t (*)[LW_MAX_NDIM])strides);
    lw_scalar parameters[2] = {{.i = shape[axis]}, {.i = descending}};
    int64_t work = 16 * (out->size / shape[axis]) * extent;
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, x, parameters, work);
}

static PyObject *compute_sort(const lw_arguments *arguments, lw_operand *x, lw_place place) {
    lw_scalar scalars[LW_MAX_PARAMETERS];
    int axis = lw_parse_axis_parameter(arguments, x->ndim);
    if (axis < 0 || lw_parse_kernel_parameters(arguments, scalars) < 0) {
        return NULL;
    }
    return sort_along(arguments->operation, x, axis, -1, scalars[0].i != 0, arguments->out, place);
}

PyObject *lw_call_sort(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_sort); }

/* argsort_first(x, count, axis, descending): returns the first `count` elements of argsort along the axis. */
static PyObject *argsort_first(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    if (count != 4 || !lw_is_tensor(arguments[0])) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "expected (x, count, axis, descending), with a tensor as x");
    }
    lw_operand x;
    lw_place place;
    lw_operand_from_tensor((lw_tensor *)arguments[0], &x);
    Py_ssize_t first = PyNumber_AsSsize_t(arguments[1], NULL);
    int axis = lw_parse_axis(arguments[2], x.ndim), descending = PyObject_IsTrue(arguments[3]);
    if (axis < 0 || descending < 0 || PyErr_Occurred() || lw_resolve_place(&x, 1, &place) != LW_DONE) {
        return NULL;
    }
    PyObject *result = sort_along(&lw_operations[LW_OPERATION_argsort], &x, axis, first, descending, NULL, place);
    lw_release_operands(&x, 1);
    return result;
}

LW_NAMED_FAST("topk", argsort_first)

PyMethodDef lw_sort_functions[] = {
    {"argsort_first", (PyCFunction)(void *)named_argsort_first, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
