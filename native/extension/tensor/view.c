/* Handles calls of view operations, which return a view of their input in another shape. Only reshape may copy its
 * input: it does so if no strides describe the view. lanewise/functions/shaping.py composes other operations from
 * these. */
#include "call/call.h"
#include "call/execute.h"
#include "lanewise_operations.h"
#include "tensor/exchange.h"
#include <string.h>

/* Replaces an extent of -1 so that the shape has `size` elements, or returns -1 with an error set. */
static int infer_extent(int64_t size, int ndim, int64_t *shape, const lw_tensor *tensor) {
    int unknown = -1;
    int64_t known = 1;
    int overflow = 0;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == -1 && unknown < 0) {
            unknown = i;
        } else {
            overflow |= shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known);
        }
    }
    if (!overflow && unknown >= 0 && known > 0 && size % known == 0) {
        shape[unknown] = size / known;
        return 0;
    }
    if (!overflow && unknown < 0 && known == size) {
        return 0;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected a shape of %lld elements, as %s has, got %s; one extent may be -1",
                     (long long)size, lw_shape_text(tensor->ndim, tensor->shape), lw_shape_text(ndim, shape));
}

lw_tensor *lw_reshape(lw_tensor *tensor, int ndim, int64_t *shape) {
    int64_t strides[LW_MAX_NDIM];
    if (infer_extent(tensor->size, ndim, shape, tensor) < 0) {
        return NULL;
    }
    if (tensor->size == 0 || tensor->contiguous) {
        lw_row_major(ndim, shape, lw_item_size(tensor->dtype), strides);
    } else if (!lw_restride(tensor->ndim, tensor->shape, tensor->strides, lw_item_size(tensor->dtype), ndim, shape,
                            strides)) {
        lw_tensor *copy = lw_copy_row_major(tensor);
        lw_tensor *result = copy ? lw_reshape(copy, ndim, shape) : NULL;
        Py_XDECREF((PyObject *)copy);
        return result;
    }
    return lw_tensor_view(tensor, tensor->data, ndim, shape, strides);
}

static lw_tensor *reshape(lw_tensor *tensor, PyObject *argument) {
    int64_t shape[LW_MAX_NDIM];
    int ndim = lw_parse_shape("shape", argument, shape);
    return ndim < 0 ? NULL : lw_reshape(tensor, ndim, shape);
}

static lw_tensor *matrix_transpose(lw_tensor *tensor, PyObject *argument) {
    if (tensor->ndim < 2) {
        return lw_raise(LW_SHAPE_ERROR, "expected x of shape (..., m, n), got %s",
                        lw_shape_text(tensor->ndim, tensor->shape));
    }
    return (lw_tensor *)PyObject_GetAttrString((PyObject *)tensor, "mT");
}

static lw_tensor *permute_dims(lw_tensor *tensor, PyObject *argument) {
    int64_t axes[LW_MAX_NDIM], shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    uint8_t seen[LW_MAX_NDIM] = {0};
    int count = tensor->ndim;
    if (argument && argument != Py_None) {
        count = lw_parse_shape("axes", argument, axes);
    } else {
        for (int i = 0; i < count; i++) {
            axes[i] = count - 1 - i; /* reversed by default */
        }
    }
    int is_permutation = count == tensor->ndim;
    for (int i = 0; i < count && is_permutation; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + count : axes[i];
        is_permutation = axis >= 0 && axis < count && !seen[axis];
        if (is_permutation) {
            seen[axis] = 1;
            shape[i] = tensor->shape[axis];
            strides[i] = tensor->strides[axis];
        }
    }
    if (count >= 0 && !is_permutation) {
        lw_raise(LW_AXIS_ERROR, "expected a permutation of %d axes, got %S", tensor->ndim, lw_describe(argument));
    }
    return count < 0 || !is_permutation ? NULL : lw_tensor_view(tensor, tensor->data, count, shape, strides);
}

static lw_tensor *broadcast_to(lw_tensor *tensor, PyObject *argument) {
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    int ndim = lw_parse_shape("shape", argument, shape);
    if (ndim < 0) {
        return NULL;
    }
    int lead = ndim - tensor->ndim;
    int fits = lead >= 0;
    for (int axis = 0; axis < ndim && fits; axis++) {
        int64_t extent = axis < lead ? 1 : tensor->shape[axis - lead];
        fits = shape[axis] >= 0 && (extent == shape[axis] || extent == 1);
        strides[axis] = extent == shape[axis] && axis >= lead ? tensor->strides[axis - lead] : 0;
    }
    int64_t ignored[LW_MAX_NDIM];
    int too_large = fits && lw_row_major(ndim, shape, 1, ignored) < 0;
    if (!fits || too_large) {
        return lw_raise(LW_SHAPE_ERROR, "expected a shape to which %s broadcasts%s, got %s",
                        lw_shape_text(tensor->ndim, tensor->shape), too_large ? ", of fewer than 2^63 elements" : "",
                        lw_shape_text(ndim, shape));
    }
    lw_tensor *view = lw_tensor_view(tensor, tensor->data, ndim, shape, strides);
    if (view) {
        view->read_only = 1; /* even if no element repeats, so that writability does not depend on the shapes */
    }
    return view;
}

static lw_tensor *expand_dims(lw_tensor *tensor, PyObject *argument) {
    if (tensor->ndim == LW_MAX_NDIM) {
        return lw_raise(LW_SHAPE_ERROR, "expected an array of at most %d dimensions, got %d", LW_MAX_NDIM - 1,
                        tensor->ndim);
    }
    int axis = 0;
    if (argument && (axis = lw_parse_axis(argument, tensor->ndim + 1)) < 0) {
        return NULL;
    }
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    for (int i = 0; i <= tensor->ndim; i++) {
        int source = i - (i > axis);
        shape[i] = i == axis ? 1 : tensor->shape[source];
        strides[i] = i == axis ? 0 : tensor->strides[source];
    }
    return lw_tensor_view(tensor, tensor->data, tensor->ndim + 1, shape, strides);
}

static lw_tensor *squeeze(lw_tensor *tensor, PyObject *argument) {
    uint8_t dropped[LW_MAX_NDIM];
    int is_named = argument && argument != Py_None;
    if (lw_parse_axes(argument, tensor->ndim, dropped) < 0) {
        return NULL;
    }
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < tensor->ndim; i++) {
        if (dropped[i] && tensor->shape[i] == 1) {
            continue;
        }
        if (dropped[i] && is_named) {
            return lw_raise(LW_SHAPE_ERROR, "expected axes of extent 1, got axis %d of extent %lld", i,
                            (long long)tensor->shape[i]);
        }
        shape[ndim] = tensor->shape[i];
        strides[ndim++] = tensor->strides[i];
    }
    return lw_tensor_view(tensor, tensor->data, ndim, shape, strides);
}

static lw_tensor *(*const view_functions[LW_OPERATION_COUNT])(lw_tensor *tensor, PyObject *argument) = {
    [LW_OPERATION_broadcast_to] = broadcast_to,
    [LW_OPERATION_expand_dims] = expand_dims,
    [LW_OPERATION_matrix_transpose] = matrix_transpose,
    [LW_OPERATION_permute_dims] = permute_dims,
    [LW_OPERATION_reshape] = reshape,
    [LW_OPERATION_squeeze] = squeeze,
};

lw_outcome lw_call_view(const lw_arguments *arguments, PyObject **result) {
    const lw_operation *operation = arguments->operation;
    if (!view_functions[operation - lw_operations]) {
        return LW_NEEDS_PYTHON;
    }
    lw_tensor *tensor = lw_tensor_from_object(arguments->inputs[0]);
    if (!tensor) {
        return PyErr_Occurred() ? LW_FAILED : LW_NEEDS_PYTHON;
    }
    PyObject *argument = operation->parameter_count ? arguments->parameters[0] : NULL;
    *result = (PyObject *)view_functions[operation - lw_operations](tensor, argument);
    Py_DECREF((PyObject *)tensor);
    return LW_DONE;
}
