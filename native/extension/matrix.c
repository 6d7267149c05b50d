/* Calls of matmul and linear: vectors become matrices of one row or column, leading dimensions broadcast. */
#include "call.h"
#include "errors.h"
#include <string.h>

/* What stays of an operand when its last two dimensions are taken as a matrix. */
typedef struct matrix {
    int64_t rows, columns, row_stride, column_stride;
} matrix;

/* A vector is one row on the left and one column on the right, as in NumPy. */
static matrix as_matrix(const lw_operand *operand, int on_the_right) {
    int last = operand->ndim - 1;
    int64_t extent = operand->shape[last];
    int64_t stride = operand->strides[last];
    if (operand->ndim > 1) {
        return (matrix){operand->shape[last - 1], extent, operand->strides[last - 1], stride};
    }
    return on_the_right ? (matrix){extent, 1, stride, 0} : (matrix){1, extent, 0, stride};
}

static int refuse_scalar(const lw_operation *operation, const lw_operand *operand, int input, int least) {
    if (operand->ndim >= least) {
        return 0;
    }
    PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "%s: %s has %d dimensions, at least %d %s wanted", operation->name,
                 operation->inputs[input].name, operand->ndim, least, least == 1 ? "is" : "are");
    return 1;
}

static PyObject *refuse_shapes(const lw_operation *operation, const lw_operand *a, const lw_operand *b,
                               const char *rule) {
    char first[LW_SHAPE_TEXT], second[LW_SHAPE_TEXT];
    return PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "%s: shapes %s and %s do not align; %s", operation->name,
                        lw_shape_text(first, a->ndim, a->shape), lw_shape_text(second, b->ndim, b->shape), rule);
}

/* The leading dimensions of both, as operands of their own to broadcast. */
static int broadcast_batch(const lw_operation *operation, const lw_operand *operands, lw_matrix_layout *layout) {
    lw_operand leading[2];
    for (int i = 0; i < 2; i++) {
        lw_leading_dimensions(&operands[i], operands[i].ndim > 2 ? operands[i].ndim - 2 : 0, &leading[i]);
    }
    layout->batch_ndim = lw_broadcast_shape(operation->name, leading, 2, layout->batch_shape);
    if (layout->batch_ndim < 0) { /* say it of the whole shapes, which the caller knows */
        PyErr_Clear();
        refuse_shapes(operation, &operands[0], &operands[1],
                      "the dimensions before the last two must be equal or 1, counted from the last");
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
    if (refuse_scalar(operation, a, 0, 1) || refuse_scalar(operation, b, 1, 1)) {
        return NULL;
    }
    matrix left = as_matrix(a, 0), right = as_matrix(b, 1);
    if (left.columns != right.rows) {
        return refuse_shapes(operation, a, b, "the inner dimensions must match");
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
    lw_tensor *out = lw_prepare_output(operation->name, arguments->out, operation->results[dtype], ndim, shape,
                                       operands, 2, 0, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    set_output_strides(&layout, 2, out, has_rows, has_columns);
    int64_t work = out->size * (layout.k / 32 + 1);
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, operands, NULL, work);
}

/* x @ weight.T + bias: all leading dimensions of x become rows where they walk evenly, else a batch. */
static PyObject *linear(const lw_arguments *arguments, lw_operand *operands, int dtype, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_operand *x = &operands[0], *weight = &operands[1], *bias = &operands[2];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    if (refuse_scalar(operation, x, 0, 1) || lw_parse_kernel_parameters(arguments, parameters) < 0) {
        return NULL;
    }
    if (weight->ndim != 2 || weight->shape[1] != x->shape[x->ndim - 1]) {
        return refuse_shapes(operation, x, weight,
                             "the weight is (out, in), and in must match the input's last extent");
    }
    if (bias->data && (bias->ndim != 1 || bias->shape[0] != weight->shape[0])) {
        return refuse_shapes(operation, weight, bias, "the bias has one value an output");
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
    lw_tensor *out = lw_prepare_output(operation->name, arguments->out, operation->results[dtype], x->ndim, shape,
                                       operands, 3, 0, place);
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
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, operands, operation->input_count));
    if (dtype < 0) {
        return NULL;
    }
    for (int i = 0; i < operation->input_count; i++) {
        if (operands[i].data && lw_cast_operand(operation->name, &operands[i], dtype) < 0) {
            return NULL;
        }
    }
    return operation->input_count == 3 ? linear(arguments, operands, dtype, place)
                                       : multiply(arguments, operands, dtype, place);
}

PyObject *lw_call_matrix(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_matrix); }
