/* Handles frequent and simple calls of operations that are otherwise composed in Python, which takes longer than their
 * kernels need for a hundred elements. */
#include "call/call.h"
#include "call/execute.h"
#include "call/offload.h"
#include "lanewise_operations.h"
#include "memory/strides.h"
#include "python/errors.h"
#include "python/python.h"
#include "tensor/tensor.h"
#include <string.h>

/* Returns the tensor that is an argument's value, or NULL. */
static lw_tensor *tensor_at(const lw_arguments *arguments, int position) {
    PyObject *object = arguments->positional[position];
    return lw_is_tensor(object) ? (lw_tensor *)object : NULL;
}

/* Calls an operation that has kernels. */
static PyObject *call_planned(const lw_operation *operation, lw_resolver *resolver, PyObject *const *inputs,
                              PyObject *const *parameters) {
    static PyObject *const defaults[LW_MAX_PARAMETERS];
    lw_arguments arguments = {
        .operation = operation, .inputs = inputs, .parameters = parameters ? parameters : defaults};
    lw_plan plan;
    lw_outcome outcome = lw_begin_plan(operation, inputs, NULL, &plan);
    PyObject *result = outcome == LW_DONE && resolver(&arguments, &plan) == 0 ? lw_execute(&plan, NULL) : NULL;
    lw_end_plan(&plan);
    return result;
}

static lw_tensor *with_axis_behind(lw_tensor *vector) {
    const int64_t shape[2] = {vector->shape[0], 1}, strides[2] = {vector->strides[0], 0};
    return lw_tensor_view(vector, vector->data, 2, shape, strides);
}

/* Calls a function of two tensors of the right shapes. Returns 0, without an error set, for others. */
static PyObject *call_on_tensors(const lw_arguments *arguments) {
    const lw_operation *operation = arguments->operation, *matmul = &lw_operations[LW_OPERATION_matmul];
    const lw_operation *multiply = &lw_operations[LW_OPERATION_multiply], *take = &lw_operations[LW_OPERATION_take];
    lw_tensor *first = tensor_at(arguments, 0), *second = tensor_at(arguments, 1);
    if (!first || !second || lw_offloads) { /* calls that may move to a GPU are call.c's */
        return NULL;
    }
    int last = first->ndim - 1;
    PyObject *inputs[LW_MAX_INPUTS] = {(PyObject *)first, (PyObject *)second};
    if (operation == &lw_operations[LW_OPERATION_matvec]) {
        int fits = last >= 1 && second->ndim == 1 && first->shape[last] == second->shape[0];
        return fits ? call_planned(matmul, lw_resolve_matrix, inputs, NULL) : NULL;
    }
    if (operation == &lw_operations[LW_OPERATION_vecmat]) {
        int fits = last == 0 && second->ndim >= 2 && second->shape[second->ndim - 2] == first->shape[0];
        return fits ? call_planned(matmul, lw_resolve_matrix, inputs, NULL) : NULL;
    }
    if (operation == &lw_operations[LW_OPERATION_outer] && last == 0 && second->ndim == 1) {
        inputs[0] = (PyObject *)with_axis_behind(first);
        PyObject *product = inputs[0] ? call_planned(multiply, lw_resolve_elementwise, inputs, NULL) : NULL;
        Py_XDECREF(inputs[0]);
        return product;
    }
    if (operation == &lw_operations[LW_OPERATION_embedding] && !first->storage->device) {
        PyObject *axis = PyLong_FromLongLong(0), *parameters[LW_MAX_PARAMETERS] = {axis};
        PyObject *swapped[LW_MAX_INPUTS] = {inputs[1], inputs[0]};
        PyObject *rows = axis ? call_planned(take, lw_resolve_gather, swapped, parameters) : NULL;
        Py_XDECREF(axis);
        return rows;
    }
    return NULL;
}

enum { MAX_PARTS = 64, MAX_COUNT = 1 << 20, MAX_REPEATED = 4096, SHORT_ROW = 16 };

/* Reads the optional int behind `required` other arguments. Returns 1 if it is given, 0 if it is absent, and -1 if it
 * is not an int, or there are further arguments. */
static int find_int(const lw_arguments *arguments, int required, const char *name, int64_t *value) {
    PyObject *given;
    return !lw_find_optional(arguments, required, name, &given) ? -1 : !given ? 0 : lw_read_int(given, value) ? 1 : -1;
}

/* Returns whether concat and stack take a tensor like the first one. `axis` is that of concat, or -1. */
static int fits(const lw_tensor *part, const lw_tensor *first, int axis) {
    int is_like = part->dtype == first->dtype && part->ndim == first->ndim && part->backend == first->backend &&
                  part->committed == first->committed && !part->storage->device;
    for (int i = 0; i < first->ndim && is_like; i++) {
        is_like = i == axis || part->shape[i] == first->shape[i];
    }
    return is_like;
}

/* Returns where a call on a tensor runs; the backend is -1, without an error set, if that is not the CPU. */
static lw_placement placement_of(lw_tensor *tensor) {
    lw_operand operand;
    lw_operand_from_tensor(tensor, &operand);
    lw_placement placement = lw_resolve_placement(&operand, 1);
    PyErr_Clear();
    int is_host = placement.backend >= 0 && lw_is_host(placement.backend);
    return is_host ? placement : (lw_placement){-1, 0};
}

/* Copies a tensor to the part of a result that begins at `start` along an axis: with that axis for concat, without it
 * for stack. */
static int copy_part(const lw_tensor *result, lw_tensor *from, int axis, int64_t start, int is_stack) {
    lw_tensor part = *result; /* a view on the stack, which nothing keeps */
    lw_operand operand;
    part.data += start * result->strides[axis];
    part.ndim = from->ndim;
    part.size = from->size;
    for (int i = 0; i < from->ndim; i++) {
        part.shape[i] = from->shape[i];
        part.strides[i] = result->strides[i + (is_stack && i >= axis)];
    }
    part.contiguous = (uint8_t)lw_is_row_major(part.ndim, part.shape, part.strides, lw_item_size(part.dtype));
    lw_operand_from_tensor(from, &operand);
    return lw_copy_into(&part, &operand);
}

/* Calls concat or stack with a list of tensors of one dtype on the CPU. */
static PyObject *call_join(const lw_arguments *arguments, int is_stack) {
    PyObject *list = arguments->positional[0];
    int64_t axis = 0, extent = 0, shape[LW_MAX_NDIM];
    Py_ssize_t count = lw_is_sequence(list) ? lw_sequence_size(list) : 0;
    if (count < 1 || count > MAX_PARTS || find_int(arguments, 1, "axis", &axis) < 0 ||
        !lw_is_tensor(lw_sequence_item(list, 0))) {
        return NULL;
    }
    lw_tensor *parts[MAX_PARTS], *first = (lw_tensor *)lw_sequence_item(list, 0);
    int ndim = first->ndim + is_stack;
    axis += axis < 0 ? ndim : 0;
    if (axis < 0 || axis >= ndim || ndim > LW_MAX_NDIM) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *part = lw_sequence_item(list, i);
        parts[i] = lw_is_tensor(part) ? (lw_tensor *)part : NULL;
        if (!parts[i] || !fits(parts[i], first, is_stack ? -1 : (int)axis)) {
            return NULL;
        }
        extent += is_stack ? 1 : parts[i]->shape[axis];
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = i == axis ? extent : first->shape[i - (is_stack && i > axis)];
    }
    lw_placement placement = placement_of(first);
    if (placement.backend < 0) {
        return NULL;
    }
    lw_tensor *result = lw_tensor_new(first->dtype, ndim, shape, placement);
    int64_t start = 0;
    for (Py_ssize_t i = 0; result && i < count; i++) {
        if (copy_part(result, parts[i], (int)axis, start, is_stack) < 0) {
            Py_DECREF((PyObject *)result);
            return NULL;
        }
        start += is_stack ? 1 : parts[i]->shape[axis];
    }
    return (PyObject *)result;
}

/* Writes a row of a triangle: zeros, and the elements of `from` that it keeps, unless `from` is NULL, because they are
 * there already. `diagonal` is the first column that triu keeps, or that tril clears; all columns are in bytes. */
static void write_triangle_row(char *to, const char *from, int64_t columns, int64_t diagonal, int is_upper) {
    int64_t left = diagonal < 0 ? 0 : diagonal < columns ? diagonal : columns;
    int64_t kept = is_upper ? left : 0, cleared = is_upper ? 0 : left;
    size_t kept_bytes = (size_t)(is_upper ? columns - left : left), cleared_bytes = (size_t)columns - kept_bytes;
    if (from) {
        memcpy(to + kept, from + kept, kept_bytes);
    }
    memset(to + cleared, 0, cleared_bytes);
}

/* Calls tril or triu of a tensor on the CPU. Rows that are not contiguous are copied first. */
static PyObject *call_triangle(const lw_arguments *arguments, int is_upper) {
    lw_tensor *x = tensor_at(arguments, 0);
    int64_t k = 0;
    if (!x || x->ndim < 2 || x->storage->device || find_int(arguments, 1, "k", &k) < 0) {
        return NULL;
    }
    lw_placement placement = placement_of(x);
    if (placement.backend < 0) {
        return NULL;
    }
    int last = x->ndim - 1;
    int64_t rows = x->shape[last - 1], columns = x->shape[last], item = lw_item_size(x->dtype);
    int is_read = x->strides[last] == item;
    if (is_read && lw_settle(x->storage) < 0) {
        return NULL;
    }
    lw_tensor *result = is_read ? lw_tensor_new(x->dtype, x->ndim, x->shape, placement) : lw_copy_row_major(x);
    if (!result || result->size == 0) {
        return (PyObject *)result;
    }
    k = k < -rows ? -rows : k > columns ? columns : k;
    for (int64_t row = 0; row < result->size / columns; row++) {
        const char *from = x->data;
        int64_t rest = row;
        for (int axis = last - 1; axis >= 0 && is_read; axis--) {
            from += rest % x->shape[axis] * x->strides[axis];
            rest /= x->shape[axis];
        }
        write_triangle_row(result->data + row * columns * item, is_read ? from : NULL, columns * item,
                           (row % rows + k + !is_upper) * item, is_upper);
    }
    return (PyObject *)result;
}

/* Returns a copy of a tensor on the CPU, each of whose axes is preceded by one of `outer` copies, or followed by one of
 * `inner`. Returns NULL, without an error set, if it has too many axes. */
static PyObject *repeated(lw_tensor *x, const int64_t *outer, const int64_t *inner) {
    int64_t shape[LW_MAX_NDIM], from[LW_MAX_NDIM], to[LW_MAX_NDIM], extents[LW_MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        extents[i] = outer[i] * x->shape[i] * inner[i];
    }
    lw_placement placement = placement_of(x);
    lw_tensor *result = placement.backend < 0 ? NULL : lw_tensor_new(x->dtype, x->ndim, extents, placement);
    for (int i = 0; result && i < x->ndim; i++) {
        const int64_t axes[3][3] = {
            {outer[i], 0, x->shape[i] * inner[i]}, {x->shape[i], x->strides[i], inner[i]}, {inner[i], 0, 1}};
        for (int j = 0; j < 3; j++) {
            if (axes[j][0] != 1 && ndim == LW_MAX_NDIM) {
                Py_DECREF((PyObject *)result);
                return NULL;
            }
            if (axes[j][0] != 1) {
                shape[ndim] = axes[j][0];
                from[ndim] = axes[j][1];
                to[ndim++] = axes[j][2] * result->strides[i];
            }
        }
    }
    lw_tensor *source = result ? lw_tensor_view(x, x->data, ndim, shape, from) : NULL;
    lw_tensor *target = source ? lw_tensor_view(result, result->data, ndim, shape, to) : NULL;
    lw_operand operand;
    if (target) {
        lw_operand_from_tensor(source, &operand);
    }
    if (result && (!target || lw_copy_into(target, &operand) < 0)) {
        Py_DECREF((PyObject *)result);
        result = NULL;
    }
    Py_XDECREF((PyObject *)source);
    Py_XDECREF((PyObject *)target);
    return (PyObject *)result;
}

/* Calls repeat or tile with an int, or tile with a tuple of an int for each axis. */
static PyObject *call_repeated(const lw_arguments *arguments, int is_tile) {
    lw_tensor *x = tensor_at(arguments, 0);
    int64_t ones[LW_MAX_NDIM], counts[LW_MAX_NDIM], axis = 0, count = 1;
    int found = arguments->positional_count < 2 ? -1 : find_int(arguments, 2, is_tile ? "" : "axis", &axis);
    if (!x || (is_tile && found != 0) || x->ndim == 0 || x->size == 0 || x->storage->device || found < 0) {
        return NULL;
    }
    PyObject *given = arguments->positional[1];
    int is_each = is_tile && lw_is_tuple(given);
    axis = is_tile ? x->ndim - 1 : axis + (axis < 0 ? x->ndim : 0);
    if ((is_each && lw_sequence_size(given) != x->ndim) || axis < 0 || axis >= x->ndim ||
        (!is_tile && found == 0 && x->ndim > 1)) {
        return NULL;
    }
    for (int i = 0; i < x->ndim; i++) {
        ones[i] = counts[i] = 1;
        if ((is_each || i == axis) &&
            (!lw_read_int(is_each ? lw_sequence_item(given, i) : given, &counts[i]) || counts[i] < 1)) {
            return NULL;
        }
        count *= counts[i] < MAX_COUNT && count < MAX_COUNT ? counts[i] : MAX_COUNT;
    }
    int64_t after = 1;
    for (int64_t i = axis + 1; i < x->ndim; i++) {
        after *= x->shape[i];
    }
    /* Of many short rows, Python writes one copy of all after the other. */
    int is_large = count >= MAX_COUNT || (!is_tile && after <= SHORT_ROW && x->size * count > MAX_REPEATED);
    return is_large ? NULL : repeated(x, is_tile ? counts : ones, is_tile ? ones : counts);
}

/* Returns a tensor of the same shape and dtype, whose axes have the same order in memory. */
static lw_tensor *new_like(lw_tensor *x, lw_placement placement) {
    int order[LW_MAX_NDIM];
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    if (!lw_order_by_stride(x->ndim, x->shape, x->strides, order)) {
        return lw_tensor_new(x->dtype, x->ndim, x->shape, placement);
    }
    for (int i = 0; i < x->ndim; i++) {
        shape[i] = x->shape[order[i]];
    }
    lw_tensor *ordered = lw_tensor_new(x->dtype, x->ndim, shape, placement);
    for (int i = 0; ordered && i < x->ndim; i++) {
        strides[order[i]] = ordered->strides[i];
    }
    lw_tensor *result = ordered ? lw_tensor_view(ordered, ordered->data, x->ndim, x->shape, strides) : NULL;
    Py_XDECREF((PyObject *)ordered);
    return result;
}

/* Calls roll with an int, along one axis. */
static PyObject *call_roll(const lw_arguments *arguments) {
    lw_tensor *x = tensor_at(arguments, 0);
    int64_t axis = 0, shift;
    int found = arguments->positional_count < 2 ? -1 : find_int(arguments, 2, "axis", &axis);
    axis += x && axis < 0 ? x->ndim : 0;
    if (!x || x->size == 0 || x->storage->device || found < 0 || (found == 0 && x->ndim != 1) || axis < 0 ||
        axis >= x->ndim || !lw_read_int(arguments->positional[1], &shift)) {
        return NULL;
    }
    lw_placement placement = placement_of(x);
    lw_tensor *result = placement.backend < 0 ? NULL : new_like(x, placement);
    int64_t extent = x->shape[axis], first = shift % extent, shape[LW_MAX_NDIM];
    first += first < 0 ? extent : 0; /* where the first slice goes */
    memcpy(shape, x->shape, sizeof shape);
    for (int is_rest = 0; result && is_rest < 2; is_rest++) {
        char *data = x->data + (is_rest ? (extent - first) * x->strides[axis] : 0);
        shape[axis] = is_rest ? first : extent - first;
        lw_tensor *part = shape[axis] ? lw_tensor_view(x, data, x->ndim, shape, x->strides) : NULL;
        if (shape[axis] && (!part || copy_part(result, part, (int)axis, is_rest ? 0 : first, 0) < 0)) {
            Py_DECREF((PyObject *)result);
            result = NULL;
        }
        Py_XDECREF((PyObject *)part);
    }
    return (PyObject *)result;
}

/* Calls asarray with a tensor and copy=True. */
static PyObject *call_copy(const lw_arguments *arguments) {
    lw_tensor *x = tensor_at(arguments, 0);
    PyObject *copy;
    if (!x || x->storage->device || !lw_find_optional(arguments, 1, "copy", &copy) || copy != Py_True ||
        !arguments->keyword_names || placement_of(x).backend < 0) {
        return NULL;
    }
    return (PyObject *)lw_cast_tensor(x, x->dtype);
}

/* Splits row-major positions in a shape into the indices along each axis. */
static PyObject *split_positions(lw_tensor *positions, int ndim, const int64_t *shape) {
    const lw_operation *remainder = &lw_operations[LW_OPERATION_remainder];
    const lw_operation *quotient = &lw_operations[LW_OPERATION_floor_divide];
    PyObject *indices = positions ? PyTuple_New(ndim) : NULL, *left = (PyObject *)positions;
    for (int axis = ndim - 1; indices && axis > 0; axis--) {
        PyObject *inputs[LW_MAX_INPUTS] = {left, PyLong_FromLongLong(shape[axis])};
        PyObject *index = inputs[1] ? call_planned(remainder, lw_resolve_elementwise, inputs, NULL) : NULL;
        PyObject *rest = index ? call_planned(quotient, lw_resolve_elementwise, inputs, NULL) : NULL;
        Py_XDECREF(inputs[1]);
        Py_DECREF(left);
        left = rest;
        if (!index || PyTuple_SetItem(indices, axis, index) < 0 || !rest) {
            Py_DECREF(indices);
            indices = NULL;
        }
    }
    if (!indices) {
        Py_XDECREF(left);
    } else if (PyTuple_SetItem(indices, 0, left) < 0) {
        Py_DECREF(indices);
        indices = NULL;
    }
    return indices;
}

/* Calls nonzero with a tensor on the CPU. */
static PyObject *call_nonzero(const lw_arguments *arguments) {
    lw_tensor *x = tensor_at(arguments, 0);
    if (!x || arguments->positional_count != 1 || arguments->keyword_names || x->ndim == 0 || x->size > INT32_MAX ||
        x->storage->device || lw_offloads || placement_of(x).backend < 0) {
        return NULL;
    }
    lw_tensor *mask = x;
    PyObject *inputs[LW_MAX_INPUTS] = {(PyObject *)x, PyLong_FromLongLong(0)};
    if (x->dtype == LW_BOOL) {
        Py_INCREF((PyObject *)x);
    } else {
        mask = inputs[1] ? (lw_tensor *)call_planned(&lw_operations[LW_OPERATION_not_equal], lw_resolve_elementwise,
                                                     inputs, NULL)
                         : NULL;
    }
    Py_XDECREF(inputs[1]);
    PyObject *indices = mask ? split_positions(lw_mask_positions(mask), x->ndim, x->shape) : NULL;
    Py_XDECREF((PyObject *)mask);
    return indices;
}

PyObject *lw_call_composed(const lw_arguments *arguments) {
    const lw_operation *operation = arguments->operation;
    if (arguments->self || arguments->positional_count < 1) {
        return NULL;
    }
    PyObject *created = lw_call_created(arguments);
    if (created || PyErr_Occurred()) {
        return created;
    }
    if (operation == &lw_operations[LW_OPERATION_concat] || operation == &lw_operations[LW_OPERATION_stack]) {
        return call_join(arguments, operation == &lw_operations[LW_OPERATION_stack]);
    }
    if (operation == &lw_operations[LW_OPERATION_tril] || operation == &lw_operations[LW_OPERATION_triu]) {
        return call_triangle(arguments, operation == &lw_operations[LW_OPERATION_triu]);
    }
    if (operation == &lw_operations[LW_OPERATION_nonzero]) {
        return call_nonzero(arguments);
    }
    if (operation == &lw_operations[LW_OPERATION_repeat] || operation == &lw_operations[LW_OPERATION_tile]) {
        return call_repeated(arguments, operation == &lw_operations[LW_OPERATION_tile]);
    }
    if (operation == &lw_operations[LW_OPERATION_roll]) {
        return call_roll(arguments);
    }
    if (operation == &lw_operations[LW_OPERATION_asarray]) {
        return call_copy(arguments);
    }
    return arguments->positional_count == 2 && !arguments->keyword_names ? call_on_tensors(arguments) : NULL;
}
