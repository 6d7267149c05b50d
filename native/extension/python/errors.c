/* Raises the errors of lanewise/errors.py. */
#include "python/errors.h"
#include <stdio.h>

static const char *const class_names[LW_ERROR_COUNT] = {
    [LW_ANY_ERROR] = "LanewiseError",
    [LW_SHAPE_ERROR] = "ShapeError",
    [LW_DTYPE_ERROR] = "DTypeError",
    [LW_AXIS_ERROR] = "AxisError",
    [LW_INDEX_ERROR] = "IndexOutOfRangeError",
    [LW_ARGUMENT_ERROR] = "ArgumentError",
    [LW_ARGUMENT_TYPE_ERROR] = "ArgumentTypeError",
    [LW_READ_ONLY_ERROR] = "ReadOnlyError",
    [LW_OUT_OF_MEMORY_ERROR] = "OutOfMemoryError",
    [LW_RANGE_ERROR] = "RangeError",
    [LW_BACKEND_ERROR] = "BackendError",
    [LW_BACKEND_UNAVAILABLE_ERROR] = "BackendUnavailableError",
    [LW_LIBRARY_ERROR] = "LibraryError",
    [LW_DEVICE_FAULT] = "DeviceError",
};
static PyObject *classes[LW_ERROR_COUNT];
static PyObject *describe; /* describe() of lanewise/errors.py */

int lw_errors_setup(PyObject *errors_module) {
    for (int error = 0; error < LW_ERROR_COUNT; error++) {
        classes[error] = PyObject_GetAttrString(errors_module, class_names[error]);
        if (!classes[error]) {
            return -1;
        }
    }
    describe = PyObject_GetAttrString(errors_module, "describe");
    return describe ? 0 : -1;
}

PyObject *lw_describe(PyObject *object) {
    static PyObject *text;
    PyObject *described = PyObject_CallFunctionObjArgs(describe, object, NULL);
    Py_XDECREF(text);
    text = described;
    return text ? text : Py_None;
}

PyObject *lw_error_class(lw_error error) { return classes[error]; }

void lw_name_error(const char *operation) {
    if (!PyErr_ExceptionMatches(classes[LW_ANY_ERROR])) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *name = PyObject_GetAttrString(error, "operation");
    if (name && !PyObject_IsTrue(name)) {
        Py_DECREF(name);
        name = PyUnicode_FromString(operation);
        if (name) {
            PyObject_SetAttrString(error, "operation", name);
        }
    }
    Py_XDECREF(name);
    PyErr_Restore(type, error, traceback);
}

void lw_raise_index(int64_t index, int axis, int64_t extent) {
    if (axis == LW_FLATTENED) {
        lw_raise(LW_INDEX_ERROR, "expected indices within the flattened tensor of extent %lld, got %lld",
                 (long long)extent, (long long)index);
    } else {
        lw_raise(LW_INDEX_ERROR, "expected indices within axis %d of extent %lld, got %lld", axis, (long long)extent,
                 (long long)index);
    }
}

const char *lw_shape_text(int ndim, const int64_t *shape) {
    enum { TEXTS = 2, BYTES = 8 * 22 + 4 };
    static char texts[TEXTS][BYTES];
    static int last;
    char *text = texts[last = (last + 1) % TEXTS];
    int length = snprintf(text, BYTES, "(");
    for (int i = 0; i < ndim; i++) {
        const char *comma = i + 1 < ndim ? ", " : ndim == 1 ? "," : "";
        length += snprintf(text + length, (size_t)(BYTES - length), "%lld%s", (long long)shape[i], comma);
    }
    snprintf(text + length, (size_t)(BYTES - length), ")");
    return text;
}
