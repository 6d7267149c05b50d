/* Handles calls of eigh and eigvalsh. The last two dimensions of the input hold symmetric matrices. */
#include "call.h"
#include "errors.h"
#include "lanewise_operations.h"
#include <string.h>

static int check_square(const lw_operand *x) {
    if (x->ndim >= 2 && x->shape[x->ndim - 1] == x->shape[x->ndim - 2]) {
        return 0;
    }
    char got[LW_SHAPE_TEXT];
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected square matrices (..., n, n), got shape %s",
                 lw_shape_text(got, x->ndim, x->shape));
    return -1;
}

/* Puts eigenvalues and eigenvectors into EighResult of lanewise/results.py. */
static PyObject *make_named_tuple(const lw_operation *operation, lw_tensor *const *results) {
    return lw_call_hook("several", operation->name, (PyObject *)results[0], (PyObject *)results[1], NULL);
}

static PyObject *compute_eigen(const lw_arguments *arguments, lw_operand *x, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int with_vectors = operation == &lw_operations[LW_OPERATION_eigh];
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, x, 1), x, 1);
    if (dtype < 0 || lw_cast_operand(x, dtype) < 0 || check_square(x) < 0) {
        return NULL;
    }
    int ndim = x->ndim;
    lw_matrix_layout layout = {.batch_ndim = ndim - 2, .m = x->shape[ndim - 1], .n = x->shape[ndim - 1]};
    lw_tensor *results[2] = {NULL, NULL};
    PyObject *made = NULL;
    for (int i = 0; i < 1 + with_vectors; i++) {
        results[i] = lw_prepare_output(NULL, operation->results[dtype], ndim - 1 + i, x->shape, x, 1, 0, place);
        if (!results[i]) {
            goto done;
        }
    }
    const int64_t *strides[3] = {x->strides, results[0]->strides, with_vectors ? results[1]->strides : NULL};
    for (int i = 0; i < 2 + with_vectors; i++) {
        memcpy(layout.batch_strides[i], strides[i], sizeof(int64_t) * (size_t)(ndim - 2));
        layout.row_strides[i] = i == 1 ? 0 : strides[i][ndim - 2];
        layout.column_strides[i] = strides[i][i == 1 ? ndim - 2 : ndim - 1];
    }
    memcpy(layout.batch_shape, x->shape, sizeof(int64_t) * (size_t)(ndim - 2));
    const void *inputs[1] = {x->data};
    void *outputs[2] = {results[0]->data, with_vectors ? results[1]->data : NULL};
    int64_t work = results[0]->size * layout.n * layout.n;
    if (results[0]->size &&
        lw_run(place.backend, operation->kernels[0][dtype], &layout, inputs, outputs, NULL, work) < 0) {
        goto done;
    }
    if (with_vectors) {
        made = make_named_tuple(operation, results);
    } else {
        made = (PyObject *)results[0];
        Py_INCREF(made);
    }
done:
    Py_XDECREF((PyObject *)results[0]);
    Py_XDECREF((PyObject *)results[1]);
    return made;
}

PyObject *lw_call_eigen(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_eigen); }
