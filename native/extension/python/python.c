/* What the extension calls or uses of the Python side: its functions (hooks), its dtypes, its tuples. */
#include "python/python.h"
#include "lanewise.h"
#include "python/errors.h"
#include "tensor/dtype.h"
#include <stdio.h>
#include <string.h>

/* These objects live until the process ends, like the Tensor type and the kernels. */
static PyObject *hooks;
static PyObject *dtypes[LW_DTYPE_COUNT];

PyObject *lw_dtype_object(int dtype) { return dtypes[dtype]; }

/* Drops the frames of a Python hook (see lw_call_hook) from the traceback of a Lanewise error, so that the traceback
 * shows only the user's code. The traceback of any other error stays whole. */
static void drop_traceback(void) {
    if (!PyErr_ExceptionMatches(lw_error_class(LW_ANY_ERROR))) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(traceback);
    PyErr_Restore(type, value, NULL);
}

PyObject *lw_call_hook(const char *name, const char *operation, PyObject *first, PyObject *second, PyObject *third) {
    PyObject *hook = hooks ? PyDict_GetItemString(hooks, name) : NULL;
    if (!hook) {
        return PyErr_Format(PyExc_RuntimeError,
                            "lanewise._ext: expected lanewise to be imported first, got _ext alone");
    }
    PyObject *result = NULL;
    if (operation) {
        PyObject *text = PyUnicode_FromString(operation);
        result = text ? PyObject_CallFunctionObjArgs(hook, text, first, second, third, NULL) : NULL;
        Py_XDECREF(text);
    } else {
        result = PyObject_CallFunctionObjArgs(hook, first, second, third, NULL);
    }
    if (!result) {
        drop_traceback();
    }
    return result;
}

int lw_parse_dtype(PyObject *object) {
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        if (object == dtypes[dtype]) {
            return dtype;
        }
    }
    const char *name = lw_is_string(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    for (int dtype = 0; name && dtype < LW_DTYPE_COUNT; dtype++) {
        if (strcmp(name, lw_dtype_name(dtype)) == 0) {
            return dtype;
        }
    }
    PyErr_Clear(); /* of a string with a surrogate */
    /* The hook knows other names of dtypes ("float32", float, dtypes of NumPy), and refuses all other objects. */
    PyObject *code = lw_call_hook("dtype_code", NULL, object, NULL, NULL);
    Py_ssize_t dtype = code ? PyNumber_AsSsize_t(code, NULL) : -1;
    Py_XDECREF(code);
    if (code && (dtype < 0 || dtype >= LW_DTYPE_COUNT) && !PyErr_Occurred()) {
        PyErr_Format(PyExc_RuntimeError, "expected a dtype's code from the hook dtype_code, got %zd", dtype);
        return -1;
    }
    return (int)dtype;
}

int lw_python_setup(PyObject *all_dtypes, PyObject *all_hooks) {
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        dtypes[dtype] = PyTuple_GetItem(all_dtypes, dtype);
        if (!dtypes[dtype]) {
            return -1;
        }
        Py_INCREF(dtypes[dtype]);
    }
    hooks = all_hooks;
    Py_INCREF(hooks);
    return 0;
}

PyObject *lw_int_tuple(int count, const int64_t *values) {
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

void lw_copy_text(PyObject *object, char *message, size_t size) {
    PyObject *text = object ? PyObject_Str(object) : NULL;
    const char *characters = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(message, size, "%s", characters ? characters : "no message");
    PyErr_Clear();
    Py_XDECREF(text);
}
