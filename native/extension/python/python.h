/* What the extension calls or uses of the Python side. */
#pragma once

#include "pyabi.h"
#include <stdint.h>

/* Keeps the DType objects and the hooks that lanewise/__init__.py passes to initialize(). */
int lw_python_setup(PyObject *all_dtypes, PyObject *all_hooks);

/* Returns the DType object of lanewise/dtypes.py for an lw_dtype, as a borrowed reference. */
PyObject *lw_dtype_object(int dtype);

/* Calls one of the Python functions that lanewise/__init__.py passed to initialize(). The function receives the
 * operation's name, unless `operation` is NULL, and up to three objects; those that are not needed are NULL. The
 * traceback of a Lanewise error does not show the frames of lanewise's own modules. */
PyObject *lw_call_hook(const char *name, const char *operation, PyObject *first, PyObject *second, PyObject *third);

/* Returns the dtype that an object names (a DType, "float32", float or a dtype of NumPy), or -1 with an error set. */
int lw_parse_dtype(PyObject *object);

PyObject *lw_int_tuple(int count, const int64_t *values);

/* Copies the text of an object to `message`, cut off if it is long. Clears any error. */
void lw_copy_text(PyObject *object, char *message, size_t size);
