/* t[...] and t[...] = value. Integers, slices, Ellipsis and newaxis make views here; index arrays and masks go to
 * lanewise/indexing.py. */
#include "call.h"
#include "errors.h"
#include "exchange.h"

typedef struct cut {
    char *data;
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_NDIM];
} cut;

/* A Python int, or something with __index__ that is no array. Tensors of one integer count as arrays, as in NumPy. */
static int is_integer(PyObject *object) {
    return !lw_is_bool(object) && !lw_is_tensor(object) && PyIndex_Check(object) && !PyObject_CheckBuffer(object);
}

static lw_taken add_dimension(cut *result, int64_t extent, int64_t stride) {
    if (result->ndim == LW_MAX_NDIM) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "index: the result has more than %d dimensions", LW_MAX_NDIM);
        return LW_FAILED;
    }
    result->shape[result->ndim] = extent;
    result->strides[result->ndim++] = stride;
    return LW_TAKEN;
}

static lw_taken cut_integer(const lw_tensor *tensor, int axis, PyObject *object, cut *result) {
    Py_ssize_t index = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return LW_FAILED;
    }
    int64_t extent = tensor->shape[axis];
    if (index < -extent || index >= extent) {
        PyErr_Format(lw_error_class(LW_INDEX_ERROR), "index: %zd is out of range for axis %d of extent %lld", index,
                     axis, (long long)extent);
        return LW_FAILED;
    }
    result->data += (index < 0 ? index + extent : index) * tensor->strides[axis];
    return LW_TAKEN;
}

/* Python's refusal of a slice as an error of lanewise's, which a tensor in it may have raised. */
static void reword_slice_error(PyObject *object) {
    lw_error to = PyErr_ExceptionMatches(PyExc_ValueError) ? LW_ARGUMENT_ERROR : LW_ARGUMENT_TYPE_ERROR;
    int is_python = PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError);
    if (is_python && !PyErr_ExceptionMatches(lw_error_class(to))) {
        PyErr_Clear();
        PyErr_Format(lw_error_class(to), "index: %R is no slice; its start, stop and step are ints, the step not 0",
                     object);
    }
}

static lw_taken cut_slice(const lw_tensor *tensor, int axis, PyObject *object, cut *result) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(object, &start, &stop, &step) < 0) {
        reword_slice_error(object);
        return LW_FAILED;
    }
    Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)tensor->shape[axis], &start, &stop, step);
    if (length > 0) {
        result->data += start * tensor->strides[axis];
    }
    return add_dimension(result, length, length > 1 ? step * tensor->strides[axis] : tensor->strides[axis]);
}

/* How many dimensions the items take; LW_NOT_MINE where one is an array, a list or a bool. */
static lw_taken count_items(PyObject *const *items, Py_ssize_t count, int *consumed, int *ellipses) {
    *consumed = *ellipses = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == Py_Ellipsis) {
            ++*ellipses;
        } else if (Py_TYPE(items[i]) == &PySlice_Type || is_integer(items[i])) {
            ++*consumed;
        } else if (items[i] != Py_None) {
            return LW_NOT_MINE;
        }
    }
    return LW_TAKEN;
}

static lw_taken cut_items(const lw_tensor *tensor, PyObject *const *items, Py_ssize_t count, cut *result) {
    int consumed, ellipses;
    lw_taken status = count_items(items, count, &consumed, &ellipses);
    if (status != LW_TAKEN) {
        return status;
    }
    if (consumed > tensor->ndim || ellipses > 1) {
        PyErr_Format(
            lw_error_class(LW_INDEX_ERROR),
            "index: %d indices and %d ellipses for %d dimensions; at most one index a dimension and one ellipsis",
            consumed, ellipses, tensor->ndim);
        return LW_FAILED;
    }
    int axis = 0;
    result->data = tensor->data;
    result->ndim = 0;
    for (Py_ssize_t i = 0; i < count && status == LW_TAKEN; i++) {
        if (items[i] == Py_None) {
            status = add_dimension(result, 1, 0);
        } else if (items[i] == Py_Ellipsis) {
            for (int rest = tensor->ndim - consumed; rest > 0 && status == LW_TAKEN; rest--, axis++) {
                status = add_dimension(result, tensor->shape[axis], tensor->strides[axis]);
            }
        } else if (Py_TYPE(items[i]) == &PySlice_Type) {
            status = cut_slice(tensor, axis, items[i], result);
            axis++;
        } else {
            status = cut_integer(tensor, axis, items[i], result);
            axis++;
        }
    }
    for (; axis < tensor->ndim && status == LW_TAKEN; axis++) {
        status = add_dimension(result, tensor->shape[axis], tensor->strides[axis]);
    }
    return status;
}

static lw_taken cut_key(const lw_tensor *tensor, PyObject *key, cut *result) {
    if (!lw_is_tuple(key)) {
        return cut_items(tensor, &key, 1, result);
    }
    PyObject *items[2 * LW_MAX_NDIM + 1];
    Py_ssize_t count = PyTuple_Size(key);
    if (count > 2 * LW_MAX_NDIM + 1) {
        PyErr_Format(lw_error_class(LW_INDEX_ERROR), "index: %zd indices are too many", count);
        return LW_FAILED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        items[i] = PyTuple_GetItem(key, i);
    }
    return cut_items(tensor, items, count, result);
}

static lw_tensor *view_of(lw_tensor *tensor, const cut *cut) {
    return lw_tensor_view(tensor, cut->data, cut->ndim, cut->shape, cut->strides);
}

static PyObject *get_item(PyObject *self, PyObject *key) {
    lw_tensor *tensor = (lw_tensor *)self;
    cut cut;
    switch (cut_key(tensor, key, &cut)) {
    case LW_TAKEN:
        return (PyObject *)view_of(tensor, &cut);
    case LW_FAILED:
        return NULL;
    default: {
        PyObject *hook = lw_hook("getitem");
        return hook ? PyObject_CallFunctionObjArgs(hook, self, key, NULL) : NULL;
    }
    }
}

static int assign(lw_tensor *target, PyObject *value) {
    lw_operand operand = {.has_view = 0};
    lw_taken status = lw_operand_take("setitem", value, &operand);
    int done = -1;
    if (status == LW_TAKEN) {
        done = lw_copy_into("setitem", target, &operand);
    } else if (status == LW_NOT_MINE) {
        lw_tensor *converted = lw_tensor_from("setitem", value);
        if (converted) {
            lw_operand_of(converted, &operand);
            done = lw_copy_into("setitem", target, &operand);
            Py_DECREF((PyObject *)converted);
        } else if (!PyErr_Occurred()) {
            PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR), "setitem: %R is no array or number",
                         (PyObject *)Py_TYPE(value));
        }
    }
    lw_operands_release(&operand, 1);
    return done;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (!value) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR), "delitem: elements of a tensor cannot be deleted");
        return -1;
    }
    if (tensor->read_only) {
        PyErr_Format(lw_error_class(LW_READ_ONLY_ERROR), "setitem: the tensor is read-only; write to a copy of it");
        return -1;
    }
    cut cut;
    lw_taken status = lw_is_host(tensor->backend) ? cut_key(tensor, key, &cut) : LW_NOT_MINE;
    if (status == LW_FAILED) {
        return -1;
    }
    if (status == LW_NOT_MINE) {
        PyObject *hook = lw_hook("setitem");
        PyObject *result = hook ? PyObject_CallFunctionObjArgs(hook, self, key, value, NULL) : NULL;
        Py_XDECREF(result);
        return result ? 0 : -1;
    }
    lw_tensor *target = view_of(tensor, &cut);
    int done = target ? assign(target, value) : -1;
    Py_XDECREF((PyObject *)target);
    return done;
}

static Py_ssize_t length(PyObject *self) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim == 0) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR), "len: a 0-dimensional tensor has no length");
        return -1;
    }
    return (Py_ssize_t)tensor->shape[0];
}

/* One entry of the first axis; also what makes a tensor iterable. */
static PyObject *get_entry(PyObject *self, Py_ssize_t index) {
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *entry = key ? get_item(self, key) : NULL;
    Py_XDECREF(key);
    return entry;
}

static PyObject *iterate(PyObject *self) {
    if (((lw_tensor *)self)->ndim == 0) {
        return PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                            "iter: a 0-dimensional tensor has no entries; item() is its one element");
    }
    return PySeqIter_New(self);
}

int lw_index_slots(PyType_Slot *slots) {
    slots[0] = (PyType_Slot){Py_mp_subscript, (void *)get_item};
    slots[1] = (PyType_Slot){Py_mp_ass_subscript, (void *)set_item};
    slots[2] = (PyType_Slot){Py_mp_length, (void *)length};
    slots[3] = (PyType_Slot){Py_sq_item, (void *)get_entry};
    slots[4] = (PyType_Slot){Py_tp_iter, (void *)iterate};
    return 5;
}
