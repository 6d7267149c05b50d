/* Parses and checks arguments that are not operands. On failure, each lw_parse function returns -1, with an error
 * set. */
#pragma once

#include "call.h"
#include "errors.h"

static inline int lw_is_sequence(PyObject *object) { return lw_is_list(object) || lw_is_tuple(object); }
static inline Py_ssize_t lw_sequence_size(PyObject *sequence) {
    return lw_is_list(sequence) ? PyList_Size(sequence) : PyTuple_Size(sequence);
}
/* Returns a borrowed reference. */
static inline PyObject *lw_sequence_item(PyObject *sequence, Py_ssize_t index) {
    return lw_is_list(sequence) ? PyList_GetItem(sequence, index) : PyTuple_GetItem(sequence, index);
}

/* Parses an int or another object with __index__, except a bool. `too_large` is the error for an int beyond 64 bits. */
int lw_parse_int(const char *parameter, PyObject *object, lw_error too_large, int64_t *value);
/* Parses True, False, or an object that equals one of them, such as 1 or a bool of NumPy. Returns 0 or 1. */
int lw_parse_bool(const char *parameter, PyObject *object);
/* Parses an axis of an array with `ndim` dimensions. Returns the axis counted from the front. */
int lw_parse_axis(PyObject *axis, int ndim);
/* Parses an axis, a tuple or list of axes, or None for all axes. Sets `reduced` to 1 for these axes. */
int lw_parse_axes(PyObject *axes, int ndim, uint8_t reduced[LW_MAX_NDIM]);
/* Parses the axis argument of a call, or uses the contract's default, which must not be None. */
int lw_parse_axis_parameter(const lw_arguments *arguments, int ndim);
/* Parses an int or a sequence of ints; extents may be negative. Returns the number of dimensions. */
int lw_parse_shape(const char *parameter, PyObject *object, int64_t shape[LW_MAX_NDIM]);
/* Parses an int or a pair of ints, each at least `minimum`. If the argument is absent, uses the contract's default. */
int lw_parse_pair(const lw_arguments *arguments, int parameter, int64_t minimum, int64_t pair[2]);
