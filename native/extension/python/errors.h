/* Raises the errors of lanewise/errors.py. Messages read `expected WHAT, got WHAT; do WHAT`. The functions that Python
 * calls, and only those, put the operation's name before them, by lw_named(). */
#pragma once

#include "pyabi.h"

typedef enum lw_error {
    LW_ANY_ERROR, /* LanewiseError, the base of all others */
    LW_SHAPE_ERROR,
    LW_DTYPE_ERROR,
    LW_AXIS_ERROR,
    LW_INDEX_ERROR,
    LW_ARGUMENT_ERROR,
    LW_ARGUMENT_TYPE_ERROR,
    LW_READ_ONLY_ERROR,
    LW_OUT_OF_MEMORY_ERROR,
    LW_RANGE_ERROR,
    LW_BACKEND_ERROR,
    LW_BACKEND_UNAVAILABLE_ERROR,
    LW_LIBRARY_ERROR,
    LW_DEVICE_FAULT,
    LW_ERROR_COUNT
} lw_error;

/* Reads the exception classes and describe() from lanewise.errors. Returns -1 with an error set if one is missing. */
int lw_errors_setup(PyObject *errors_module);

/* Returns the class of an error, as a borrowed reference. */
PyObject *lw_error_class(lw_error error);
/* Raise an error with a message, formatted as by PyErr_Format. lw_raise() returns a NULL of any type, lw_refuse()
 * returns -1. */
#define lw_raise(error, ...) lw_null(PyErr_Format(lw_error_class(error), __VA_ARGS__))
static inline void *lw_null(PyObject *null) { return null; }
#define lw_refuse(error, ...) (lw_raise(error, __VA_ARGS__), -1)
#define lw_refuse_memory() (PyErr_NoMemory(), -1)

/* Describes an object for an error message: an array by type and shape, another object by its shortened repr.
 * Must be called with no error set. Returns a borrowed reference for %S of PyErr_Format, valid until the next call. */
PyObject *lw_describe(PyObject *object);

/* Sets the attribute `operation` of the current exception; its str() begins with that name. Does nothing if the
 * attribute is already set, or the exception is not one of lanewise/errors.py. */
void lw_name_error(const char *operation);
/* Returns the result of a function, or NULL after naming its error. */
static inline PyObject *lw_named(const char *operation, PyObject *result) {
    if (!result) {
        lw_name_error(operation);
    }
    return result;
}
/* Define named_<function> for a table of methods: the same function, with its errors named. */
#define LW_NAMED(operation, function)                                       \
    static PyObject *named_##function(PyObject *self, PyObject *argument) { \
        return lw_named(operation, function(self, argument));               \
    }
#define LW_NAMED_FAST(operation, function)                                                            \
    static PyObject *named_##function(PyObject *self, PyObject *const *arguments, Py_ssize_t count) { \
        return lw_named(operation, function(self, arguments, count));                                 \
    }

/* Raises the error for an index outside its axis. If `axis` is LW_FLATTENED, the index refers to
 * the flattened tensor. */
enum { LW_FLATTENED = -1 };
void lw_raise_index(int64_t index, int axis, int64_t extent);

/* Returns a shape as Python prints it, "(3, 4)". The text is valid until the second call after this one. */
const char *lw_shape_text(int ndim, const int64_t *shape);
