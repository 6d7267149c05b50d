/* Resolves calls of matmul and linear. Vectors become matrices of one row or column; leading dimensions broadcast. */
#include "plan/plan.h"
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

static int refuse_low_ndim(const lw_operation *operation, const lw_operand *operand, int input, int min_ndim) {
    if (operand->ndim >= min_ndim) {
        return 0;
    }
    lw_raise(LW_SHAPE_ERROR, "expected %s with at least %d dimension%s, got %d", operation->inputs[input].name,
             min_ndim, min_ndim == 1 ? "" : "s", operand->ndim);
    return 1;
}

/* Raises the error for two inputs whose shapes do not match. Returns -1. */
static int refuse_shapes(const lw_operation *operation, const char *expected, const lw_operand *operands, int a, int b,
                         const char *advice) {
    return lw_refuse(LW_SHAPE_ERROR, "expected %s, got %s %s and %s %s%s", expected, operation->inputs[a].name,
                     lw_shape_text(operands[a].ndim, operands[a].shape), operation->inputs[b].name,
                     lw_shape_text(operands[b].ndim, operands[b].shape), advice);
}

static int refuse_inner_extents(const lw_operation *operation, const lw_operand *operands, int64_t inner) {
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
        lw_borrow_operand(&operands[i], operands[i].ndim > 2 ? operands[i].ndim - 2 : 0, &leading[i]);
    }
    layout->batch.ndim = lw_broadcast_shape(leading, 2, layout->batch.shape);
    if (layout->batch.ndim < 0) { /* this error shows only leading dimensions: raise one with whole shapes */
        PyErr_Clear();
        return refuse_shapes(operation, "batch dimensions (all but the last two) that broadcast", operands, 0, 1, "");
    }
    for (int i = 0; i < 2; i++) {
        lw_broadcast_strides(&leading[i], layout->batch.ndim, layout->batch.shape, layout->batch.strides[i]);
    }
    return layout->batch.ndim;
}

static void set_result_strides(lw_plan *plan, int has_rows, int has_columns) {
    lw_matrix_layout *layout = &plan->matrix;
    const lw_result *out = &plan->results[0];
    int operand = plan->operation->input_count;
    for (int axis = 0; axis < layout->batch.ndim; axis++) {
        layout->batch.strides[operand][axis] = out->strides[axis];
    }
    int last = out->ndim - 1;
    layout->column_strides[operand] = has_columns ? out->strides[last] : 0;
    layout->row_strides[operand] = has_rows ? out->strides[last - has_columns] : 0;
}

static int multiply(lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    const lw_operand *a = &plan->operands[0], *b = &plan->operands[1];
    if (refuse_low_ndim(operation, a, 0, 1) || refuse_low_ndim(operation, b, 1, 1)) {
        return -1;
    }
    matrix left = as_matrix(a, 0), right = as_matrix(b, 1);
    if (left.columns != right.rows) {
        return refuse_inner_extents(operation, plan->operands, left.columns);
    }
    lw_matrix_layout *layout = &plan->matrix;
    *layout = (lw_matrix_layout){.m = left.rows, .n = right.columns, .k = left.columns};
    layout->row_strides[0] = left.row_stride;
    layout->column_strides[0] = left.column_stride;
    layout->row_strides[1] = right.row_stride;
    layout->column_strides[1] = right.column_stride;
    if (broadcast_batch(operation, plan->operands, layout) < 0) {
        return -1;
    }
    int has_rows = a->ndim > 1, has_columns = b->ndim > 1;
    int ndim = layout->batch.ndim;
    int64_t shape[LW_MAX_NDIM];
    memcpy(shape, layout->batch.shape, sizeof shape);
    if (has_rows) {
        shape[ndim++] = layout->m;
    }
    if (has_columns) {
        shape[ndim++] = layout->n;
    }
    int64_t size = lw_set_result(plan, ndim, shape);
    if (size > 0) {
        set_result_strides(plan, has_rows, has_columns);
        plan->steps = size * layout->k;
    }
    return size < 0 ? -1 : 0;
}

/* Computes the activation of x @ weight.T + bias. If x is contiguous, all its dimensions but the last are merged into
 * the rows of one matrix. Otherwise the dimensions before the last two become a batch of matrices. */
static int linear(lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    const lw_operand *x = &plan->operands[0], *weight = &plan->operands[1], *bias = &plan->operands[2];
    if (refuse_low_ndim(operation, x, 0, 1)) {
        return -1;
    }
    if (weight->ndim != 2 || weight->shape[1] != x->shape[x->ndim - 1]) {
        char expected[64];
        snprintf(expected, sizeof expected, "weight of shape (out, %lld)", (long long)x->shape[x->ndim - 1]);
        return refuse_shapes(operation, expected, plan->operands, 0, 1, "");
    }
    if (bias->data && (bias->ndim != 1 || bias->shape[0] != weight->shape[0])) {
        char expected[64];
        snprintf(expected, sizeof expected, "bias of shape (%lld,)", (long long)weight->shape[0]);
        return refuse_shapes(operation, expected, plan->operands, 1, 2, "");
    }
    matrix rows = as_matrix(x, 0);
    lw_matrix_layout *layout = &plan->matrix;
    *layout = (lw_matrix_layout){.m = rows.rows, .n = weight->shape[0], .k = weight->shape[1]};
    layout->row_strides[0] = rows.row_stride;
    layout->column_strides[0] = rows.column_stride;
    layout->row_strides[1] = weight->strides[1];
    layout->column_strides[1] = weight->strides[0];
    layout->column_strides[2] = bias->data ? bias->strides[0] : 0;
    int64_t shape[LW_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[x->ndim - 1] = layout->n;
    int64_t size = lw_set_result(plan, x->ndim, shape);
    if (size <= 0) {
        return (int)size;
    }
    if (x->contiguous && x->ndim > 1) {
        layout->m = size / layout->n;
        layout->row_strides[0] = layout->k * lw_item_size(x->dtype); /* that of an axis of extent 1 is arbitrary */
    } else {
        layout->batch.ndim = x->ndim > 2 ? x->ndim - 2 : 0;
        for (int axis = 0; axis < layout->batch.ndim; axis++) {
            layout->batch.shape[axis] = x->shape[axis];
            layout->batch.strides[0][axis] = x->strides[axis];
        }
    }
    set_result_strides(plan, x->ndim > 1, 1);
    plan->steps = size * layout->k;
    return 0;
}

/* Returns the largest magnitude of an operand's elements, if their dtype has 8 bits, before they are converted to the
 * integers that the kernel reads; otherwise 0. */
static int64_t largest_of_8_bits(const lw_operand *operand) {
    int dtype = operand->is_copied ? operand->source.dtype : operand->dtype;
    return !lw_is_integer(dtype) || lw_item_size(dtype) > 1 ? 0
           : lw_lowest_integer(dtype)                       ? -lw_lowest_integer(dtype)
                                                            : lw_highest_integer(dtype);
}

/* Returns whether float32 holds every sum of products exactly, in any order of the terms, and the kernel for float32
 * saves more time than the conversion of its results takes: on one thread of an AMD EPYC, products of 64 x 64 and of
 * 256 x 1000 by 1000 x 256 take 1.3 to 1.5 times as long in int32 with AVX2, 1.8 to 3 times otherwise (2026-11). */
static int is_exact_in_float32(const lw_plan *plan) {
    enum { SHORTEST = 32, FEWEST_STEPS = 1 << 15 };
    const int64_t exact = 1 << 24; /* float32 holds all integers up to this magnitude */
    const lw_operand *a = &plan->operands[0], *b = &plan->operands[1];
    int64_t largest = largest_of_8_bits(a) * largest_of_8_bits(b), k = a->ndim ? a->shape[a->ndim - 1] : 0;
    return largest && k >= SHORTEST && k <= exact / largest && (double)(a->size / k) * (double)b->size >= FEWEST_STEPS;
}

/* Lets the kernel for float32 compute a product of integers of 8 bits whose results are signed integers of 32 or 64
 * bits. Not on a GPU, where arithmetic of floats need not follow IEEE 754. */
static int multiply_in_float32(lw_plan *plan) {
    int result = plan->result_dtype;
    if (lw_devices[plan->placement.backend] || lw_dtypes[result].class != LW_CLASS_SIGNED || lw_item_size(result) < 4 ||
        !is_exact_in_float32(plan)) {
        return 0;
    }
    int status = lw_set_kernel(plan, 0, LW_FLOAT32);
    plan->result_dtype = (int8_t)result;
    for (int i = 0; i < plan->operation->input_count && status == 0; i++) {
        status = lw_copy_operand(&plan->operands[i], LW_FLOAT32);
    }
    return status;
}

int lw_resolve_matrix(const lw_arguments *arguments, lw_plan *plan) {
    if (lw_choose_kernel(arguments, plan, plan->operation->input_count) < 0 ||
        lw_parse_kernel_parameters(arguments, plan->parameters) < 0) {
        return -1;
    }
    if (plan->operation->input_count == 3) {
        return linear(plan);
    }
    return multiply_in_float32(plan) < 0 ? -1 : multiply(plan);
}
