/* Raising the errors of lanewise/errors.py. Each says what was given, what was wanted and what to do. */
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

/* Takes the exception classes from lanewise.errors. -1 with an error set where one is missing. */
int lw_errors_setup(PyObject *errors_module);

/* The exception class, a borrowed reference for PyErr_Format. */
PyObject *lw_error_class(lw_error error);

void lw_raise_no_memory(const char *operation, int64_t bytes);

/* An index that an axis does not have; `axis` is LW_FLATTENED where the tensor counts as one dimension. */
enum { LW_FLATTENED = -1 };
void lw_raise_index(const char *operation, int64_t index, int axis, int64_t extent);

/* A shape as Python prints it, "(3, 4)", in `text`, for error messages. Returns `text`. */
enum { LW_SHAPE_TEXT = 8 * 22 + 4 };
const char *lw_shape_text(char text[LW_SHAPE_TEXT], int ndim, const int64_t *shape);
