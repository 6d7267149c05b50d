/* Steps that all kinds of calls share: reading inputs, choosing a backend, broadcasting, collapsing dimensions,
 * preparing the output. */
#include "call.h"
#include "errors.h"
#include <string.h>

lw_outcome lw_require_host(int backend) {
    if (lw_is_host(backend)) {
        return LW_DONE;
    }
    PyErr_Format(lw_error_class(LW_BACKEND_UNAVAILABLE_ERROR),
                 "expected a CPU backend, got %s, which cannot compute with tensors in this version",
                 lw_backend_name(backend));
    return LW_FAILED;
}

lw_outcome lw_resolve_place(const lw_operand *operands, int count, lw_place *place) {
    place->backend = -1;
    for (int i = 0; i < count; i++) {
        const lw_tensor *tensor = operands[i].tensor;
        if (operands[i].data && tensor && tensor->committed && tensor->backend != place->backend) {
            if (place->backend >= 0 && lw_strict_backends) {
                PyErr_Format(
                    lw_error_class(LW_BACKEND_ERROR),
                    "expected operands on one backend inside strict_backends(), got %s and %s; move one with to()",
                    lw_backend_name(place->backend), lw_backend_name(tensor->backend));
                return LW_FAILED;
            }
            place->backend = tensor->backend > place->backend ? tensor->backend : place->backend;
        }
    }
    place->committed = place->backend >= 0;
    if (place->backend < 0) {
        place->backend = lw_current_backend(&place->committed);
    }
    return lw_require_host(place->backend);
}

lw_outcome lw_read_inputs(const lw_operation *operation, PyObject *const *inputs, lw_operand *operands,
                          lw_place *place) {
    int count = operation->input_count;
    lw_outcome status = LW_DONE;
    for (int i = 0; i < count; i++) {
        operands[i].data = NULL;
        operands[i].has_view = 0;
        operands[i].owned = NULL;
    }
    for (int i = 0; i < count && status == LW_DONE; i++) {
        if (inputs[i]) {
            status = lw_read_operand(inputs[i], &operands[i]);
        }
    }
    for (int i = 0; i < count && status == LW_DONE; i++) {
        const lw_input *input = &operation->inputs[i];
        if (input->ndim >= 0 && operands[i].data && operands[i].ndim != input->ndim) {
            char got[LW_SHAPE_TEXT];
            PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected %s with %d dimension%s, got shape %s; %s: %s",
                         input->name, input->ndim, input->ndim == 1 ? "" : "s",
                         lw_shape_text(got, operands[i].ndim, operands[i].shape), input->name, input->description);
            return LW_FAILED;
        }
    }
    return status == LW_DONE ? lw_resolve_place(operands, count, place) : status;
}

PyObject *lw_call_with_operands(const lw_arguments *arguments, lw_compute *compute) {
    const lw_operation *operation = arguments->operation;
    lw_operand operands[LW_MAX_INPUTS];
    lw_place place;
    lw_outcome status = lw_read_inputs(operation, arguments->inputs, operands, &place);
    PyObject *result = status == LW_DONE ? compute(arguments, operands, place) : NULL;
    lw_release_operands(operands, operation->input_count);
    return status == LW_NEEDS_PYTHON ? lw_call_python(arguments) : result;
}

int lw_broadcast_shape(const lw_operand *operands, int count, int64_t *shape) {
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        ndim = operands[i].data && operands[i].ndim > ndim ? operands[i].ndim : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int i = 0; i < count; i++) {
        if (!operands[i].data) {
            continue;
        }
        int lead = ndim - operands[i].ndim;
        for (int axis = lead; axis < ndim; axis++) {
            int64_t extent = operands[i].shape[axis - lead];
            if (shape[axis] == 1) {
                shape[axis] = extent;
            } else if (extent != 1 && extent != shape[axis]) {
                char first[LW_SHAPE_TEXT], second[LW_SHAPE_TEXT];
                PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                             "expected shapes that broadcast, got %s and %s; extents, compared from the last "
                             "axis, must be equal or 1",
                             lw_shape_text(first, ndim, shape),
                             lw_shape_text(second, operands[i].ndim, operands[i].shape));
                return -1;
            }
        }
    }
    return ndim;
}

void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides) {
    int lead = ndim - operand->ndim;
    for (int axis = 0; axis < ndim; axis++) {
        int broadcast = axis < lead || (operand->shape[axis - lead] == 1 && shape[axis] != 1);
        strides[axis] = broadcast ? 0 : operand->strides[axis - lead];
    }
}

/* Returns whether `axis`, whose extent is `extent`, can be merged into `last`, the last dimension of the layout so far:
 * every operand must step through both with a single stride. */
static int merges(const lw_layout *layout, int last, int operand_count, const int64_t strides[][LW_MAX_NDIM], int axis,
                  int64_t extent) {
    for (int i = 0; i < operand_count; i++) {
        if (layout->strides[i][last] != strides[i][axis] * extent) {
            return 0;
        }
    }
    return 1;
}

void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]) {
    int first_inner = ndim - inner;
    int kept = 0;
    int kept_outer = 0;
    for (int axis = 0; axis < ndim; axis++) {
        if (axis == first_inner) {
            kept_outer = kept;
        }
        if (shape[axis] == 1) {
            continue;
        }
        int may_merge = kept > 0 && (axis < first_inner || kept > kept_outer);
        if (may_merge && merges(layout, kept - 1, operand_count, strides, axis, shape[axis])) {
            layout->shape[kept - 1] *= shape[axis];
        } else {
            layout->shape[kept++] = shape[axis];
        }
        for (int i = 0; i < operand_count; i++) {
            layout->strides[i][kept - 1] = strides[i][axis];
        }
    }
    if (first_inner >= ndim) {
        kept_outer = kept;
    }
    if (kept == kept_outer && (inner > 0 || kept == 0)) { /* kernels need at least one dimension */
        layout->shape[kept] = 1;
        for (int i = 0; i < operand_count; i++) {
            layout->strides[i][kept] = 0;
        }
        kept++;
    }
    layout->ndim = kept;
    layout->inner = inner > 0 ? kept - kept_outer : 0;
}

int lw_order_axes(int ndim, const uint8_t *reduced, int *order) {
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

int lw_refuse_extent(const lw_operation *operation, int64_t extent) {
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

/* Computes the range of bytes that an array spans. */
static void memory_bounds(const char *data, int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                          const char **low, const char **high) {
    *low = data;
    *high = data + item_size;
    for (int i = 0; i < ndim; i++) {
        int64_t reach = (shape[i] - 1) * strides[i];
        *(reach < 0 ? low : high) += reach;
    }
}

int lw_overlaps(const lw_tensor *out, const lw_operand *operand) {
    if (!operand->data || operand->weakness != LW_STRONG || operand->owned || out->size == 0) {
        return 0;
    }
    for (int i = 0; i < operand->ndim; i++) {
        if (operand->shape[i] == 0) {
            return 0;
        }
    }
    const char *low, *high, *out_low, *out_high;
    memory_bounds(operand->data, operand->ndim, operand->shape, operand->strides, lw_item_size(operand->dtype), &low,
                  &high);
    memory_bounds(out->data, out->ndim, out->shape, out->strides, lw_item_size(out->dtype), &out_low, &out_high);
    return low < out_high && out_low < high;
}

/* Returns whether the operand is the output itself, so that a kernel may read and write it element by element. */
static int coincides(const lw_tensor *out, const lw_operand *operand) {
    return operand->data == out->data && operand->dtype == out->dtype && operand->ndim == out->ndim &&
           memcmp(operand->shape, out->shape, sizeof(int64_t) * (size_t)out->ndim) == 0 &&
           memcmp(operand->strides, out->strides, sizeof(int64_t) * (size_t)out->ndim) == 0;
}

static lw_tensor *check_out(PyObject *object, int dtype, int ndim, const int64_t *shape, const lw_operand *operands,
                            int count, int in_place) {
    if (!lw_is_tensor(object)) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR), "expected a tensor for out, got %S", lw_describe(object));
        return NULL;
    }
    lw_tensor *out = (lw_tensor *)object;
    if (out->read_only) {
        PyErr_Format(lw_error_class(LW_READ_ONLY_ERROR), "expected a writable tensor for out, got a read-only one");
        return NULL;
    }
    if (out->dtype != dtype) {
        PyErr_Format(lw_error_class(LW_DTYPE_ERROR), "expected a tensor of dtype %s for out, got %s",
                     lw_dtype_name(dtype), lw_dtype_name(out->dtype));
        return NULL;
    }
    if (out->ndim != ndim || memcmp(out->shape, shape, sizeof(int64_t) * (size_t)ndim) != 0) {
        char expected[LW_SHAPE_TEXT], got[LW_SHAPE_TEXT];
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected a tensor of shape %s for out, got %s",
                     lw_shape_text(expected, ndim, shape), lw_shape_text(got, out->ndim, out->shape));
        return NULL;
    }
    if (!out->contiguous) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_ERROR),
                     "expected a contiguous tensor for out, got a strided one; assign the result with out[...] = "
                     "... instead");
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (lw_overlaps(out, &operands[i]) && !(i < in_place && coincides(out, &operands[i]))) {
            PyErr_Format(lw_error_class(LW_ARGUMENT_ERROR),
                         "expected an out that shares no memory with the inputs, got one that overlaps input %d; "
                         "copy the input first",
                         i + 1);
            return NULL;
        }
    }
    Py_INCREF(object);
    return out;
}

lw_tensor *lw_prepare_output(PyObject *out, int dtype, int ndim, const int64_t *shape, const lw_operand *operands,
                             int count, int in_place, lw_place place) {
    if (out) {
        return check_out(out, dtype, ndim, shape, operands, count, in_place);
    }
    return lw_tensor_new(dtype, ndim, shape, place.backend, place.committed);
}

PyObject *lw_run_into(lw_tensor *out, const lw_operation *operation, lw_place place, int kernel, const void *layout,
                      const lw_operand *operands, const lw_scalar *parameters, int64_t work) {
    const void *inputs[LW_MAX_INPUTS];
    for (int i = 0; i < operation->input_count; i++) {
        inputs[i] = operands[i].data;
    }
    void *outputs[1] = {out->data};
    if (lw_run(place.backend, kernel, layout, inputs, outputs, parameters, work) < 0) {
        Py_DECREF((PyObject *)out);
        return NULL;
    }
    return (PyObject *)out;
}
