/* Stands in for native/extension in the fixture `small` of ../conftest.py: a module without functions. */
#include "pyabi.h"

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
PyObject *PyInit__ext(void);

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_ext", NULL, 0, NULL, NULL, NULL, NULL, NULL};

PyObject *PyInit__ext(void) {
    if (PyErr_Occurred()) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    return PyModuleDef_Init(&definition);
}
