/* Checks of arguments that are not operands. Each function returns -1, or LW_FAILED, with an error that names the
 * operation and the parameter. */
#pragma once

#include "call.h"
#include "errors.h"

static inline int lw_is_sequence(PyObject *object) { return lw_is_list(object) || lw_is_tuple(object); }
static inline Py_ssize_t lw_sequence_size(PyObject *sequence) {
    return lw_is_list(sequence) ? PyList_Size(sequence) : PyTuple_Size(sequence);
}
/* A borrowed reference. */
static inline PyObject *lw_sequence_item(PyObject *sequence, Py_ssize_t index) {
    return lw_is_list(sequence) ? PyList_GetItem(sequence, index) : PyTuple_GetItem(sequence, index);
}

/* An int, or an object with __index__ that is not a bool. `too_large` is the error for one beyond 64 bits. */
int lw_parse_int(const char *operation, const char *parameter, PyObject *object, lw_error too_large, int64_t *value);
/* True or False, or an object equal to one of them, such as 1 or a bool of NumPy. Returns 0 or 1. */
int lw_parse_bool(const char *operation, const char *parameter, PyObject *object);
/* An axis of `ndim` dimensions. Returns it counted from the front. */
int lw_parse_axis(const char *operation, PyObject *axis, int ndim);
/* An axis, a tuple or list of axes, or None for all: marks each in `reduced`. */
int lw_parse_axes(const char *operation, PyObject *axes, int ndim, uint8_t reduced[LW_MAX_NDIM]);
/* The axis argument of a call, or the contract's default, which is not None here. */
int lw_parse_axis_parameter(const lw_arguments *arguments, int ndim);
/* An int or a sequence of ints, negative ones included. Returns the number of dimensions. */
int lw_parse_shape(const char *operation, const char *parameter, PyObject *object, int64_t shape[LW_MAX_NDIM]);
/* An int or a pair of ints of at least `minimum`; the default where the argument is absent. */
int lw_parse_pair(const lw_arguments *arguments, int parameter, int64_t minimum, int64_t pair[2]);
