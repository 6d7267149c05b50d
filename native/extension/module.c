/* The module lanewise._ext, the hot path of every call. It passes calls that it cannot handle to
 * lanewise/dispatch.py. */
#include "module.h"
#include "errors.h"
#include "operation.h"

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

/* initialize(errors, dtypes, hooks, methods): receives the classes and functions of the Python side.
 * lanewise/__init__.py calls it once. `methods` become attributes of Tensor. */
static PyObject *initialize(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    if (count != 4 || hooks) {
        PyErr_SetString(PyExc_RuntimeError, hooks ? "initialize: expected one call, got a second"
                                                  : "initialize: expected (errors, dtypes, hooks, methods)");
        return NULL;
    }
    if (lw_errors_setup(arguments[0]) < 0) {
        return NULL;
    }
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        dtypes[dtype] = PyTuple_GetItem(arguments[1], dtype);
        if (!dtypes[dtype]) {
            return NULL;
        }
        Py_INCREF(dtypes[dtype]);
    }
    PyObject *name, *method;
    Py_ssize_t position = 0;
    while (PyDict_Next(arguments[3], &position, &name, &method)) {
        if (PyObject_SetAttr((PyObject *)lw_tensor_type, name, method) < 0) {
            return NULL;
        }
    }
    hooks = arguments[2];
    Py_INCREF(hooks);
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef functions[] = {
    {"initialize", (PyCFunction)(void *)initialize, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* Sets __all__ to the names of the operations. All other names are for lanewise's own modules. */
static int list_operations(PyObject *module) {
    PyObject *names = PyList_New(0);
    for (const PyMethodDef *function = lw_operation_functions; names && function->ml_name; function++) {
        PyObject *name = PyUnicode_FromString(function->ml_name);
        if (!name || PyList_Append(names, name) < 0) {
            Py_DECREF(names);
            names = NULL;
        }
        Py_XDECREF(name);
    }
    int added = names ? PyModule_AddObjectRef(module, "__all__", names) : -1;
    Py_XDECREF(names);
    return added;
}

static int execute(PyObject *module) {
    static int loaded;
    if (loaded) { /* kernel tables and the thread pool belong to the process, not to an interpreter */
        PyErr_SetString(PyExc_ImportError,
                        "lanewise: expected one interpreter per process, got a second; use processes instead");
        return -1;
    }
    PyMethodDef *const tables[] = {
        functions,           lw_operation_functions, lw_backend_functions, lw_exchange_functions, lw_creation_functions,
        lw_gather_functions, lw_sort_functions,      lw_call_functions,    lw_storage_functions,
#if !defined(__wasm__)
        lw_thread_functions,
#endif
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    if (lw_tensor_setup(module) < 0 || list_operations(module) < 0) {
        return -1;
    }
    loaded = 1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "lanewise._ext",
    .m_doc = "Tensors, and operations bound straight to their kernels. Import lanewise, not this.",
    .m_slots = slots,
};

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
PyObject *PyInit__ext(void);
PyObject *PyInit__ext(void) { return PyModuleDef_Init(&definition); }
