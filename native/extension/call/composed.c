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

/* Returns the optional argument behind `required` others: the next positional one, or the only keyword, `name`. It is
 * NULL if the argument is absent. Returns 0 if there are others. */
static int find_optional(const lw_arguments *arguments, int required, const char *name, PyObject **given) {
    Py_ssize_t keywords = arguments->keyword_names ? PyTuple_Size(arguments->keyword_names) : 0;
    int is_given = arguments->positional_count + keywords == required + 1;
    int is_named = keywords == 1 && arguments->positional_count == required &&
                   PyUnicode_CompareWithASCIIString(PyTuple_GetItem(arguments->keyword_names, 0), name) == 0;
    *given = is_given ? arguments->positional[required] : NULL;
    return is_given ? is_named || keywords == 0 : keywords == 0 && arguments->positional_count == required;
}

/* Returns whether an argument is an int; if so, reads it. */
static int read_int(PyObject *given, int64_t *value) {
    if (!lw_is_int(given) || lw_is_bool(given)) {
        return 0;
    }
    *value = PyLong_AsLongLong(given);
    int is_valid = *value != -1 || !PyErr_Occurred();
    PyErr_Clear();
    return is_valid;
}

/* The same for an int. Returns 0 if it is absent, and -1 if it is not an int, or there are others. */
static int find_int(const lw_arguments *arguments, int required, const char *name, int64_t *value) {
    PyObject *given;
    return !find_optional(arguments, required, name, &given) ? -1 : !given ? 0 : read_int(given, value) ? 1 : -1;
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

/* Calls tril or triu: copies a tensor on the CPU, and clears what is beyond the diagonal. */
static PyObject *call_triangle(const lw_arguments *arguments, int is_upper) {
    lw_tensor *x = tensor_at(arguments, 0);
    int64_t k = 0;
    if (!x || x->ndim < 2 || x->storage->device || find_int(arguments, 1, "k", &k) < 0) {
        return NULL;
    }
    if (placement_of(x).backend < 0) {
        return NULL;
    }
    lw_tensor *result = lw_copy_row_major(x);
    if (!result || result->size == 0) {
        return (PyObject *)result;
    }
    int64_t rows = x->shape[x->ndim - 2], columns = x->shape[x->ndim - 1], item = lw_item_size(x->dtype);
    k = k < -rows ? -rows : k > columns ? columns : k;
    for (int64_t i = 0; i < result->size / columns; i++) {
        int64_t diagonal = i % rows + k + !is_upper; /* the first column that stays, or that is cleared */
        diagonal = diagonal < 0 ? 0 : diagonal > columns ? columns : diagonal;
        int64_t first = is_upper ? 0 : diagonal, count = is_upper ? diagonal : columns - diagonal;
        memset(result->data + (i * columns + first) * item, 0, (size_t)(count * item));
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
            (!read_int(is_each ? lw_sequence_item(given, i) : given, &counts[i]) || counts[i] < 1)) {
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

/* Calls roll with an int, along one axis. */
static PyObject *call_roll(const lw_arguments *arguments) {
    lw_tensor *x = tensor_at(arguments, 0);
    int64_t axis = 0, shift;
    int found = arguments->positional_count < 2 ? -1 : find_int(arguments, 2, "axis", &axis);
    axis += x && axis < 0 ? x->ndim : 0;
    if (!x || x->size == 0 || x->storage->device || found < 0 || (found == 0 && x->ndim != 1) || axis < 0 ||
        axis >= x->ndim || !read_int(arguments->positional[1], &shift)) {
        return NULL;
    }
    lw_placement placement = placement_of(x);
    lw_tensor *result = placement.backend < 0 ? NULL : lw_tensor_new(x->dtype, x->ndim, x->shape, placement);
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
    if (!x || x->storage->device || !find_optional(arguments, 1, "copy", &copy) || copy != Py_True ||
        !arguments->keyword_names || placement_of(x).backend < 0) {
        return NULL;
    }
    return (PyObject *)lw_cast_tensor(x, x->dtype);
}

/* Calls arange with small ints alone. */
static PyObject *call_arange(const lw_arguments *arguments) {
    int64_t numbers[3] = {0, 0, 1}, *given = numbers + (arguments->positional_count == 1);
    int are_small = arguments->positional_count <= 3 && !arguments->keyword_names;
    for (Py_ssize_t i = 0; i < arguments->positional_count && are_small; i++) {
        are_small = lw_is_int(arguments->positional[i]) && !lw_is_bool(arguments->positional[i]);
        given[i] = are_small ? PyLong_AsLongLong(arguments->positional[i]) : 0;
        are_small &= given[i] == (int32_t)given[i] && !PyErr_Occurred();
        PyErr_Clear();
    }
    int64_t step = numbers[2], distance = numbers[1] - numbers[0];
    if (!are_small || step == 0) {
        return NULL;
    }
    int64_t count = distance == 0 || (distance < 0) != (step < 0) ? 0 : (distance - (step > 0 ? 1 : -1)) / step + 1;
    return lw_create_range(count, lw_default_integer, numbers[0], step);
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
    if (operation == &lw_operations[LW_OPERATION_concat] || operation == &lw_operations[LW_OPERATION_stack]) {
        return call_join(arguments, operation == &lw_operations[LW_OPERATION_stack]);
    }
    if (operation == &lw_operations[LW_OPERATION_tril] || operation == &lw_operations[LW_OPERATION_triu]) {
        return call_triangle(arguments, operation == &lw_operations[LW_OPERATION_triu]);
    }
    if (operation == &lw_operations[LW_OPERATION_arange]) {
        return call_arange(arguments);
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
