/* Parses and checks arguments that are not operands. On failure, each lw_parse function returns -1, with an error
 * set. */
#pragma once

#include "plan/operation.h"
#include "python/errors.h"

enum { LW_MAX_PARAMETERS = 8, LW_MAX_INPUTS = 4 };

/* The arguments of one call. All references are borrowed. */
typedef struct lw_arguments {
    const lw_operation *operation;
    PyObject *const *inputs;     /* an element is NULL if that input is absent or None */
    PyObject *const *parameters; /* an element is NULL if the default of that parameter applies */
    PyObject *out;               /* NULL to return a new tensor */
    /* the arguments as the caller passed them, for lanewise/dispatch.py */
    PyObject *self;
    PyObject *const *positional;
    Py_ssize_t positional_count;
    PyObject *keyword_names;
} lw_arguments;

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
/* Returns a new reference to the axis argument of a call, by default the contract's default, or to None if there is no
 * axis parameter. */
PyObject *lw_new_axis(const lw_arguments *arguments);
/* Parses the axis argument of a call, or uses the contract's default, which must not be None. */
int lw_parse_axis_parameter(const lw_arguments *arguments, int ndim);
/* Parses an int or a sequence of ints; extents may be negative. Returns the number of dimensions. */
int lw_parse_shape(const char *parameter, PyObject *object, int64_t shape[LW_MAX_NDIM]);
/* Parses an int or a pair of ints, each at least `minimum`. If the argument is absent, uses the contract's default. */
int lw_parse_pair(const lw_arguments *arguments, int parameter, int64_t minimum, int64_t pair[2]);

/* Parses the parameters that the kernel receives, in the contract's order. Returns their number. */
int lw_parse_kernel_parameters(const lw_arguments *arguments, lw_scalar *scalars);
/* Parses the value of one such parameter. */
int lw_parse_parameter(const lw_parameter *parameter, PyObject *object, lw_scalar *scalar);
/* Returns the argument for the operation's first parameter of this type, or NULL. */
PyObject *lw_argument_of(const lw_arguments *arguments, lw_parameter_type type);
/* Returns whether the caller passed this parameter with a value other than None. */
int lw_has_parameter(const lw_arguments *arguments, const char *name);
/* Returns the operation of this name, or NULL. */
const lw_operation *lw_find_operation(const char *name);
/* Return the position of the operation's first parameter of this type or of this name, or -1. */
int lw_find_named(const lw_operation *operation, const char *name);
int lw_find_parameter(const lw_operation *operation, lw_parameter_type type);

/* Returns the optional argument behind `required` others: the next positional one, or the only keyword, `name`. It is
 * NULL if the argument is absent. Returns 0 if there are others. */
int lw_find_optional(const lw_arguments *arguments, int required, const char *name, PyObject **given);
/* Returns whether an argument is an int; if so, reads it. */
int lw_read_int(PyObject *given, int64_t *value);
