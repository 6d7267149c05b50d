/* The module lanewise._ext, the hot path of every call. It passes calls that it cannot handle to
 * lanewise/dispatch.py. */
#include "python/module.h"
#include "plan/operation.h"
#include "python/errors.h"
#include "python/python.h"
#include "tensor/tensor.h"

/* initialize(errors, dtypes, hooks, methods): receives the classes and functions of the Python side.
 * lanewise/__init__.py calls it once, or each time that it is imported again after the import failed. `methods` become
 * attributes of Tensor. */
static PyObject *initialize(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    static PyObject *errors; /* of the first call */
    if (count != 4 || (errors && errors != arguments[0])) {
        PyErr_SetString(PyExc_RuntimeError, errors ? "initialize: expected the modules of the first call, got others"
                                                   : "initialize: expected (errors, dtypes, hooks, methods)");
        return NULL;
    }
    if (errors) {
        return Py_NewRef(Py_None);
    }
    if (lw_errors_setup(arguments[0]) < 0 || lw_python_setup(arguments[1], arguments[2]) < 0) {
        return NULL;
    }
    PyObject *name, *method;
    Py_ssize_t position = 0;
    while (PyDict_Next(arguments[3], &position, &name, &method)) {
        if (PyObject_SetAttr((PyObject *)lw_tensor_type, name, method) < 0) {
            return NULL;
        }
    }
    errors = Py_NewRef(arguments[0]);
    return Py_NewRef(Py_None);
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
        functions,
        lw_operation_functions,
        lw_backend_functions,
        lw_exchange_functions,
        lw_creation_functions,
        lw_gather_functions,
        lw_sort_functions,
        lw_call_functions,
        lw_storage_functions,
        lw_webgpu_functions,
        lw_device_functions,
        lw_offload_functions,
        lw_cost_functions,
        lw_host_chain_functions,
#if defined(__wasm__)
        lw_worker_functions,
#else
        lw_thread_functions,
#endif
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    if (lw_type_setup(module) < 0 || list_operations(module) < 0) {
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
