/* Handles calls of matmul and linear. Vectors become matrices of one row or column; leading dimensions broadcast. */
#include "call.h"
#include "errors.h"
#include <stdio.h>
#include <string.h>

/* Extents and strides of the last two dimensions of an operand. */
typedef struct matrix {
    int64_t rows, columns, row_stride, column_stride;
} matrix;

/* Returns an operand as a matrix. As in NumPy, a vector becomes a row on the left and a column on the right. */
static matrix as_matrix(const lw_operand *operand, int on_the_right) {
    int last = operand->ndim - 1;
    int64_t extent = operand->shape[last];
    int64_t stride = operand->strides[last];
    if (operand->ndim > 1) {
        return (matrix){operand->shape[last - 1], extent, operand->strides[last - 1], stride};
    }
    return on_the_right ? (matrix){extent, 1, stride, 0} : (matrix){1, extent, 0, stride};
}

static int refuse_low_ndim(const lw_operation *operation, const lw_operand *operand, int input, int least) {
    if (operand->ndim >= least) {
        return 0;
    }
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected %s with at least %d dimension%s, got %d",
                 operation->inputs[input].name, least, least == 1 ? "" : "s", operand->ndim);
    return 1;
}

/* Raises the error for two inputs whose shapes do not match. Returns NULL. */
static PyObject *refuse_shapes(const lw_operation *operation, const char *expected, const lw_operand *operands, int a,
                               int b, const char *advice) {
    char first[LW_SHAPE_TEXT], second[LW_SHAPE_TEXT];
    return PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected %s, got %s %s and %s %s%s", expected,
                        operation->inputs[a].name, lw_shape_text(first, operands[a].ndim, operands[a].shape),
                        operation->inputs[b].name, lw_shape_text(second, operands[b].ndim, operands[b].shape), advice);
}

static PyObject *refuse_inner_extents(const lw_operation *operation, const lw_operand *operands, int64_t inner) {
    const lw_operand *b = &operands[1];
    char expected[64];
    snprintf(expected, sizeof expected,
             b->ndim == 1   ? "%s of shape (%lld,)"
             : b->ndim == 2 ? "%s of shape (%lld, n)"
                            : "%s of shape (..., %lld, n)",
             operation->inputs[1].name, (long long)inner);
    int fits_transposed = b->ndim > 1 && b->shape[b->ndim - 1] == inner;
    char advice[64] = "";
    if (fits_transposed) {
        snprintf(advice, sizeof advice, "; transpose %s with %s", operation->inputs[1].name,
                 b->ndim == 2 ? ".T" : ".mT");
    }
    return refuse_shapes(operation, expected, operands, 0, 1, advice);
}

/* Broadcasts the leading dimensions of both operands. */
static int broadcast_batch(const lw_operation *operation, const lw_operand *operands, lw_matrix_layout *layout) {
    lw_operand leading[2];
    for (int i = 0; i < 2; i++) {
        lw_leading_dimensions(&operands[i], operands[i].ndim > 2 ? operands[i].ndim - 2 : 0, &leading[i]);
    }
    layout->batch_ndim = lw_broadcast_shape(leading, 2, layout->batch_shape);
    if (layout->batch_ndim < 0) { /* this error shows only leading dimensions: raise one with whole shapes */
        PyErr_Clear();
        refuse_shapes(operation, "batch dimensions (all but the last two) that broadcast", operands, 0, 1, "");
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        lw_broadcast_strides(&leading[i], layout->batch_ndim, layout->batch_shape, layout->batch_strides[i]);
    }
    return layout->batch_ndim;
}

static void set_output_strides(lw_matrix_layout *layout, int operand, const lw_tensor *out, int has_rows,
                               int has_columns) {
    for (int axis = 0; axis < layout->batch_ndim; axis++) {
        layout->batch_strides[operand][axis] = out->strides[axis];
    }
    int last = out->ndim - 1;
    layout->column_strides[operand] = has_columns ? out->strides[last] : 0;
    layout->row_strides[operand] = has_rows ? out->strides[last - has_columns] : 0;
}

static PyObject *multiply(const lw_arguments *arguments, lw_operand *operands, int dtype, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_operand *a = &operands[0], *b = &operands[1];
    if (refuse_low_ndim(operation, a, 0, 1) || refuse_low_ndim(operation, b, 1, 1)) {
        return NULL;
    }
    matrix left = as_matrix(a, 0), right = as_matrix(b, 1);
    if (left.columns != right.rows) {
        return refuse_inner_extents(operation, operands, left.columns);
    }
    lw_matrix_layout layout = {.m = left.rows, .n = right.columns, .k = left.columns};
    layout.row_strides[0] = left.row_stride;
    layout.column_strides[0] = left.column_stride;
    layout.row_strides[1] = right.row_stride;
    layout.column_strides[1] = right.column_stride;
    if (broadcast_batch(operation, operands, &layout) < 0) {
        return NULL;
    }
    int has_rows = a->ndim > 1, has_columns = b->ndim > 1;
    int ndim = layout.batch_ndim;
    int64_t shape[LW_MAX_NDIM];
    memcpy(shape, layout.batch_shape, sizeof shape);
    if (has_rows) {
        shape[ndim++] = layout.m;
    }
    if (has_columns) {
        shape[ndim++] = layout.n;
    }
    lw_tensor *out = lw_prepare_output(arguments->out, operation->results[dtype], ndim, shape, operands, 2, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    set_output_strides(&layout, 2, out, has_rows, has_columns);
    int64_t work = out->size * (layout.k / 32 + 1);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, operands, NULL, work);
}

/* Computes the activation of x @ weight.T + bias. If x is contiguous, all its dimensions but the last are merged into
 * the rows of one matrix. Otherwise the dimensions before the last two become a batch of matrices. */
static PyObject *linear(const lw_arguments *arguments, lw_operand *operands, int dtype, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_operand *x = &operands[0], *weight = &operands[1], *bias = &operands[2];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    if (refuse_low_ndim(operation, x, 0, 1) || lw_parse_kernel_parameters(arguments, parameters) < 0) {
        return NULL;
    }
    if (weight->ndim != 2 || weight->shape[1] != x->shape[x->ndim - 1]) {
        char expected[64];
        snprintf(expected, sizeof expected, "weight of shape (out, %lld)", (long long)x->shape[x->ndim - 1]);
        return refuse_shapes(operation, expected, operands, 0, 1, "");
    }
    if (bias->data && (bias->ndim != 1 || bias->shape[0] != weight->shape[0])) {
        char expected[64];
        snprintf(expected, sizeof expected, "bias of shape (%lld,)", (long long)weight->shape[0]);
        return refuse_shapes(operation, expected, operands, 1, 2, "");
    }
    matrix rows = as_matrix(x, 0);
    lw_matrix_layout layout = {.m = rows.rows, .n = weight->shape[0], .k = weight->shape[1]};
    layout.row_strides[0] = rows.row_stride;
    layout.column_strides[0] = rows.column_stride;
    layout.row_strides[1] = weight->strides[1];
    layout.column_strides[1] = weight->strides[0];
    layout.column_strides[2] = bias->data ? bias->strides[0] : 0;
    int64_t shape[LW_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[x->ndim - 1] = layout.n;
    lw_tensor *out =
        lw_prepare_output(arguments->out, operation->results[dtype], x->ndim, shape, operands, 3, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    if (x->contiguous && x->ndim > 1) {
        layout.m = out->size / layout.n;
    } else {
        layout.batch_ndim = x->ndim > 2 ? x->ndim - 2 : 0;
        for (int axis = 0; axis < layout.batch_ndim; axis++) {
            layout.batch_shape[axis] = x->shape[axis];
            layout.batch_strides[0][axis] = x->strides[axis];
        }
    }
    set_output_strides(&layout, 3, out, x->ndim > 1, 1);
    int64_t work = out->size * (layout.k / 32 + 1);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, operands, parameters, work);
}

static PyObject *compute_matrix(const lw_arguments *arguments, lw_operand *operands, lw_place place) {
    const lw_operation *operation = arguments->operation;
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, operands, operation->input_count), operands,
                                operation->input_count);
    if (dtype < 0) {
        return NULL;
    }
    for (int i = 0; i < operation->input_count; i++) {
        if (operands[i].data && lw_cast_operand(&operands[i], dtype) < 0) {
            return NULL;
        }
    }
    return operation->input_count == 3 ? linear(arguments, operands, dtype, place)
                                       : multiply(arguments, operands, dtype, place);
}

PyObject *lw_call_matrix(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_matrix); }
