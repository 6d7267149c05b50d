/* t[...] and t[...] = value. Ints, slices, Ellipsis and newaxis select a view here; lanewise/functions/indexing.py
 * handles index arrays and masks. */
#include "call/execute.h"
#include "python/module.h"
#include "python/python.h"
#include "tensor/exchange.h"

typedef struct selection {
    char *data;
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_NDIM];
} selection;

/* Returns whether an object is an int or has __index__. Bools, tensors and objects with the buffer protocol, such as
 * NumPy's arrays and scalars, do not count: lanewise/functions/indexing.py handles them. */
static int is_integer(PyObject *object) {
    return !lw_is_bool(object) && !lw_is_tensor(object) && PyIndex_Check(object) && !PyObject_CheckBuffer(object);
}

static lw_outcome add_dimension(selection *result, int64_t extent, int64_t stride) {
    if (result->ndim == LW_MAX_NDIM) {
        return lw_refuse(LW_SHAPE_ERROR, "expected a result of at most %d dimensions, got more", LW_MAX_NDIM);
    }
    result->shape[result->ndim] = extent;
    result->strides[result->ndim++] = stride;
    return LW_DONE;
}

static lw_outcome select_integer(const lw_tensor *tensor, int axis, PyObject *object, selection *result) {
    Py_ssize_t index = PyNumber_AsSsize_t(object, NULL); /* ints beyond Py_ssize_t are clipped, and stay out of range */
    if (index == -1 && PyErr_Occurred()) {
        return LW_FAILED;
    }
    int64_t extent = tensor->shape[axis];
    if (index < -extent || index >= extent) {
        lw_raise_index(index, axis, extent);
        return LW_FAILED;
    }
    result->data += (index < 0 ? index + extent : index) * tensor->strides[axis];
    return LW_DONE;
}

/* Replaces Python's error about a slice by a Lanewise error. If a tensor in the slice has already raised a Lanewise
 * error, keeps that error. */
static void reword_slice_error(PyObject *object) {
    lw_error to = PyErr_ExceptionMatches(PyExc_ValueError) ? LW_ARGUMENT_ERROR : LW_ARGUMENT_TYPE_ERROR;
    int is_python = PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError);
    if (is_python && !PyErr_ExceptionMatches(lw_error_class(to))) {
        PyErr_Clear();
        lw_raise(to, "expected a slice of ints with a step other than 0, got %S", lw_describe(object));
    }
}

static lw_outcome select_slice(const lw_tensor *tensor, int axis, PyObject *object, selection *result) {
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

/* Counts how many dimensions the items in t[...] consume, and how many items are ellipses. Returns LW_NEEDS_PYTHON if
 * an item is of another type, such as an array, a list or a bool. */
static lw_outcome count_items(PyObject *const *items, Py_ssize_t count, int *consumed, int *ellipses) {
    *consumed = *ellipses = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == Py_Ellipsis) {
            ++*ellipses;
        } else if (Py_TYPE(items[i]) == &PySlice_Type || is_integer(items[i])) {
            ++*consumed;
        } else if (items[i] != Py_None) {
            return LW_NEEDS_PYTHON;
        }
    }
    return LW_DONE;
}

static lw_outcome select_items(const lw_tensor *tensor, PyObject *const *items, Py_ssize_t count, selection *result) {
    int consumed, ellipses;
    lw_outcome status = count_items(items, count, &consumed, &ellipses);
    if (status != LW_DONE) {
        return status;
    }
    if (consumed > tensor->ndim) {
        return lw_refuse(LW_INDEX_ERROR, "expected at most %d ind%s for shape %s, got %d", tensor->ndim,
                         tensor->ndim == 1 ? "ex" : "ices", lw_shape_text(tensor->ndim, tensor->shape), consumed);
    }
    if (ellipses > 1) {
        return lw_refuse(LW_INDEX_ERROR, "expected at most one Ellipsis (...), got %d", ellipses);
    }
    if (lw_settle(tensor->storage) < 0) {
        return LW_FAILED;
    }
    int axis = 0;
    result->data = tensor->data;
    result->ndim = 0;
    for (Py_ssize_t i = 0; i < count && status == LW_DONE; i++) {
        if (items[i] == Py_None) {
            status = add_dimension(result, 1, 0);
        } else if (items[i] == Py_Ellipsis) {
            for (int left = tensor->ndim - consumed; left > 0 && status == LW_DONE; left--, axis++) {
                status = add_dimension(result, tensor->shape[axis], tensor->strides[axis]);
            }
        } else if (Py_TYPE(items[i]) == &PySlice_Type) {
            status = select_slice(tensor, axis, items[i], result);
            axis++;
        } else {
            status = select_integer(tensor, axis, items[i], result);
            axis++;
        }
    }
    for (; axis < tensor->ndim && status == LW_DONE; axis++) {
        status = add_dimension(result, tensor->shape[axis], tensor->strides[axis]);
    }
    return status;
}

static lw_outcome select_key(const lw_tensor *tensor, PyObject *key, selection *result) {
    if (!lw_is_tuple(key)) {
        return select_items(tensor, &key, 1, result);
    }
    PyObject *items[2 * LW_MAX_NDIM + 1];
    Py_ssize_t count = PyTuple_Size(key);
    if (count > 2 * LW_MAX_NDIM + 1) {
        return lw_refuse(LW_INDEX_ERROR, "expected at most %d items between the brackets, got %zd", 2 * LW_MAX_NDIM + 1,
                         count);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        items[i] = PyTuple_GetItem(key, i);
    }
    return select_items(tensor, items, count, result);
}

static lw_tensor *view_of(lw_tensor *tensor, const selection *selection) {
    return lw_tensor_view(tensor, selection->data, selection->ndim, selection->shape, selection->strides);
}

static PyObject *select_view(PyObject *self, PyObject *key) {
    lw_tensor *tensor = (lw_tensor *)self;
    selection selection;
    switch (select_key(tensor, key, &selection)) {
    case LW_DONE:
        return (PyObject *)view_of(tensor, &selection);
    case LW_FAILED:
        return NULL;
    default:
        return lw_call_hook("getitem", NULL, self, key, NULL);
    }
}

static PyObject *get_item(PyObject *self, PyObject *key) { return lw_named("getitem", select_view(self, key)); }

/* Reads a list of numbers as the dtype of the tensor that they are assigned to. Returns NULL, with an error set only
 * for a number that the dtype does not hold, if another way of reading may succeed: floats for an integer tensor are
 * truncated, as in NumPy. */
static lw_tensor *read_list(PyObject *value, int dtype) {
    lw_tensor *read = lw_is_sequence(value) ? lw_tensor_from_numbers(value, dtype) : NULL;
    if (!read && PyErr_Occurred() && !PyErr_ExceptionMatches(lw_error_class(LW_RANGE_ERROR))) {
        PyErr_Clear();
    }
    return read;
}

static int assign(lw_tensor *target, PyObject *value) {
    lw_operand operand = {.has_view = 0};
    lw_outcome status = lw_read_operand(value, &operand);
    int done = -1;
    if (status == LW_DONE && lw_is_numpy_scalar(&operand)) {
        lw_weaken_operand(&operand);
    }
    if (status == LW_DONE) {
        done = lw_copy_into(target, &operand);
    } else if (status == LW_NEEDS_PYTHON) {
        PyObject *converted = (PyObject *)read_list(value, target->dtype);
        converted = converted || PyErr_Occurred() ? converted : (PyObject *)lw_tensor_from_object(value);
        if (!converted && !PyErr_Occurred()) { /* a DLPack object or a range, for example */
            PyObject *name = PyUnicode_FromString("value");
            converted = name ? lw_call_hook("tensor_of", NULL, name, value, NULL) : NULL;
            Py_XDECREF(name);
        }
        if (converted) {
            lw_operand_from_tensor((lw_tensor *)converted, &operand);
            done = lw_copy_into(target, &operand);
            Py_DECREF(converted);
        }
    }
    if (done < 0) {
        lw_explain_range(target->dtype, value);
    }
    lw_release_operands(&operand, 1);
    return done;
}

static int assign_to(PyObject *self, PyObject *key, PyObject *value) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (!value) {
        return lw_refuse(LW_ARGUMENT_TYPE_ERROR,
                         "elements of a tensor cannot be deleted; select the elements to keep with an index");
    }
    if (lw_refuse_writing(tensor)) {
        return -1;
    }
    selection selection;
    lw_outcome status = select_key(tensor, key, &selection);
    if (status == LW_FAILED) {
        return -1;
    }
    if (status == LW_NEEDS_PYTHON) {
        PyObject *result = lw_call_hook("setitem", NULL, self, key, value);
        Py_XDECREF(result);
        return result ? 0 : -1;
    }
    lw_tensor *target = view_of(tensor, &selection);
    int done = target ? assign(target, value) : -1;
    Py_XDECREF((PyObject *)target);
    return done;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value) {
    int done = assign_to(self, key, value);
    if (done < 0) {
        lw_name_error(value ? "setitem" : "delitem");
    }
    return done;
}

static Py_ssize_t length(PyObject *self) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim == 0) {
        lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected at least 1 dimension, got a 0-dimensional tensor");
        lw_name_error("len");
        return -1;
    }
    return (Py_ssize_t)tensor->shape[0];
}

/* Returns one entry along the first axis. This is the slot sq_item, which iterators over tensors call. */
static PyObject *get_entry(PyObject *self, Py_ssize_t index) {
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *entry = key ? get_item(self, key) : NULL;
    Py_XDECREF(key);
    return entry;
}

static PyObject *make_iterator(PyObject *self) {
    if (((lw_tensor *)self)->ndim == 0) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR,
                        "expected at least 1 dimension, got a 0-dimensional tensor; call item() for its element");
    }
    return PySeqIter_New(self);
}

static PyObject *iterate(PyObject *self) { return lw_named("iter", make_iterator(self)); }

int lw_index_slots(PyType_Slot *slots) {
    slots[0] = (PyType_Slot){Py_mp_subscript, (void *)get_item};
    slots[1] = (PyType_Slot){Py_mp_ass_subscript, (void *)set_item};
    slots[2] = (PyType_Slot){Py_mp_length, (void *)length};
    slots[3] = (PyType_Slot){Py_sq_item, (void *)get_entry};
    slots[4] = (PyType_Slot){Py_tp_iter, (void *)iterate};
    return 5;
}
