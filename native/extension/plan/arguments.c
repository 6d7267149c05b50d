/* Parses and checks arguments that are not operands: axes, shapes, pairs, and the parameters of kernels. */
#include "plan/arguments.h"
#include "lanewise_operations.h"
#include "tensor/number.h"
#include <string.h>

typedef enum int_status {
    INT_READ,
    INT_TOO_LARGE,
    INT_EXPECTED, /* the object is not an int */
    INT_FAILED    /* __index__ raised an error, which is still set */
} int_status;

static int_status read_int(PyObject *object, int64_t *value) {
    if (lw_is_bool(object) || !PyIndex_Check(object)) {
        return INT_EXPECTED;
    }
    PyObject *index = PyNumber_Index(object);
    if (!index) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return INT_FAILED;
        }
        PyErr_Clear();
        return INT_EXPECTED;
    }
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    return overflow ? INT_TOO_LARGE : INT_READ;
}

/* Returns a new reference to an element of a sequence, or to the object itself if it is not a sequence. Returns NULL
 * with IndexError set if the __index__ of an earlier element has shortened the list. */
static PyObject *new_element(PyObject *object, Py_ssize_t index) {
    PyObject *element = lw_is_sequence(object) ? lw_sequence_item(object, index) : object;
    Py_XINCREF(element);
    return element;
}

/* Raises the error for a status other than INT_READ, and returns -1. For INT_FAILED, the error is already set.
 * `expected` describes what the whole argument should have been. */
static int refuse_int(const char *parameter, PyObject *argument, const char *expected, int_status status,
                      lw_error too_large) {
    if (status == INT_EXPECTED) {
        lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected %s for %s, got %S", expected, parameter, lw_describe(argument));
    } else if (status == INT_TOO_LARGE) {
        lw_raise(too_large, "expected ints of at most 64 bits for %s, got %S", parameter, lw_describe(argument));
    }
    return -1;
}

int lw_parse_int(const char *parameter, PyObject *object, lw_error too_large, int64_t *value) {
    int_status status = read_int(object, value);
    return status == INT_READ ? 0 : refuse_int(parameter, object, "an int", status, too_large);
}

int lw_parse_bool(const char *parameter, PyObject *object) {
    PyObject *const truths[] = {Py_False, Py_True};
    for (int truth = 0; truth < 2; truth++) {
        PyObject *comparison = PyObject_RichCompare(object, truths[truth], Py_EQ);
        int is_equal = comparison ? PyObject_IsTrue(comparison) : -1;
        Py_XDECREF(comparison);
        if (is_equal > 0) {
            return truth;
        }
        if (is_equal < 0 && !PyErr_ExceptionMatches(PyExc_Exception)) {
            return -1; /* KeyboardInterrupt */
        }
        PyErr_Clear(); /* an object that cannot be compared is neither True nor False */
    }
    return lw_refuse(LW_ARGUMENT_TYPE_ERROR, "expected True or False for %s, got %S", parameter, lw_describe(object));
}

int lw_parse_axis(PyObject *object, int ndim) {
    int64_t axis;
    if (lw_parse_int("axis", object, LW_AXIS_ERROR, &axis) < 0) {
        return -1;
    }
    if (axis < -ndim || axis >= ndim) {
        return lw_refuse(LW_AXIS_ERROR, "expected an axis within %d dimension%s, got %lld", ndim, ndim == 1 ? "" : "s",
                         (long long)axis);
    }
    return (int)(axis < 0 ? axis + ndim : axis);
}

int lw_parse_axes(PyObject *object, int ndim, uint8_t reduced[LW_MAX_NDIM]) {
    int is_all = !object || object == Py_None;
    memset(reduced, is_all, LW_MAX_NDIM);
    if (is_all) {
        return 0;
    }
    Py_ssize_t count = lw_is_sequence(object) ? lw_sequence_size(object) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *element = new_element(object, i);
        int axis = element ? lw_parse_axis(element, ndim) : -1;
        Py_XDECREF(element);
        if (axis < 0) {
            return -1;
        }
        if (reduced[axis]) {
            return lw_refuse(LW_AXIS_ERROR, "expected different axes, got %S, which names axis %d twice",
                             lw_describe(object), axis);
        }
        reduced[axis] = 1;
    }
    return 0;
}

PyObject *lw_new_axis(const lw_arguments *arguments) {
    int position = lw_find_parameter(arguments->operation, LW_PARAMETER_AXIS);
    PyObject *axis = position < 0 ? Py_None : arguments->parameters[position];
    const lw_parameter *parameter = &arguments->operation->parameters[position < 0 ? 0 : position];
    if (axis || parameter->default_is_none) {
        return Py_NewRef(axis ? axis : Py_None);
    }
    return PyLong_FromLongLong(parameter->default_value.i);
}

int lw_parse_axis_parameter(const lw_arguments *arguments, int ndim) {
    PyObject *axis = lw_new_axis(arguments);
    int parsed = axis ? lw_parse_axis(axis, ndim) : -1;
    Py_XDECREF(axis);
    return parsed;
}

/* Parses one int, or a sequence of ints, and returns their number. The caller has checked that the sequence has at most
 * LW_MAX_NDIM elements. */
static int parse_ints(const char *parameter, PyObject *object, const char *expected, lw_error too_large,
                      int64_t values[LW_MAX_NDIM]) {
    Py_ssize_t count = lw_is_sequence(object) ? lw_sequence_size(object) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *element = new_element(object, i);
        int_status status = element ? read_int(element, &values[i]) : INT_FAILED;
        Py_XDECREF(element);
        if (status != INT_READ) {
            return refuse_int(parameter, object, expected, status, too_large);
        }
    }
    return (int)count;
}

int lw_parse_shape(const char *parameter, PyObject *object, int64_t shape[LW_MAX_NDIM]) {
    if (lw_is_sequence(object) && lw_sequence_size(object) > LW_MAX_NDIM) {
        return lw_refuse(LW_SHAPE_ERROR, "expected at most %d dimensions for %s, got %zd", LW_MAX_NDIM, parameter,
                         lw_sequence_size(object));
    }
    return parse_ints(parameter, object, "an int or a tuple of ints", LW_SHAPE_ERROR, shape);
}

int lw_parse_pair(const lw_arguments *arguments, int index, int64_t minimum, int64_t pair[2]) {
    const lw_operation *operation = arguments->operation;
    const lw_parameter *parameter = &operation->parameters[index];
    PyObject *object = arguments->parameters[index];
    if (!object || (object == Py_None && parameter->default_is_none)) {
        pair[0] = pair[1] = parameter->default_value.i;
        return 0;
    }
    int64_t values[LW_MAX_NDIM];
    int count = 0;
    if (!lw_is_sequence(object) || lw_sequence_size(object) <= LW_MAX_NDIM) {
        count = parse_ints(parameter->name, object, "an int or a pair of ints", LW_ARGUMENT_ERROR, values);
    }
    if (count < 0) {
        return -1;
    }
    int is_valid = count == 1 || count == 2;
    for (int i = 0; i < count; i++) {
        is_valid &= values[i] >= minimum && values[i] <= INT32_MAX;
    }
    if (!is_valid) {
        return lw_refuse(LW_ARGUMENT_ERROR, "expected an int or a pair of ints from %lld to 2147483647 for %s, got %S",
                         (long long)minimum, parameter->name, lw_describe(object));
    }
    pair[0] = values[0];
    pair[1] = values[count - 1];
    return 0;
}

const lw_operation *lw_find_operation(const char *name) {
    for (int i = 0; i < LW_OPERATION_COUNT; i++) {
        if (strcmp(lw_operations[i].name, name) == 0) {
            return &lw_operations[i];
        }
    }
    return NULL;
}

int lw_find_parameter(const lw_operation *operation, lw_parameter_type type) {
    for (int i = 0; i < operation->parameter_count; i++) {
        if (operation->parameters[i].type == type) {
            return i;
        }
    }
    return -1;
}

int lw_find_named(const lw_operation *operation, const char *name) {
    for (int i = 0; i < operation->parameter_count; i++) {
        if (strcmp(operation->parameters[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

PyObject *lw_argument_of(const lw_arguments *arguments, lw_parameter_type type) {
    int position = lw_find_parameter(arguments->operation, type);
    return position < 0 ? NULL : arguments->parameters[position];
}

int lw_has_parameter(const lw_arguments *arguments, const char *name) {
    int position = lw_find_named(arguments->operation, name);
    return position >= 0 && arguments->parameters[position] && arguments->parameters[position] != Py_None;
}

static int parse_choice(const lw_parameter *parameter, PyObject *object, lw_scalar *scalar) {
    for (int i = 0; parameter->choices[i]; i++) {
        if (lw_is_string(object) && PyUnicode_CompareWithASCIIString(object, parameter->choices[i]) == 0) {
            scalar->i = i;
            return 0;
        }
    }
    PyObject *choices = PyUnicode_FromString("");
    for (int i = 0; choices && parameter->choices[i]; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s'%s'", choices, i ? ", " : "", parameter->choices[i]);
        Py_DECREF(choices);
        choices = longer;
    }
    if (choices) {
        lw_raise(LW_ARGUMENT_ERROR, "expected one of %U for %s, got %S", choices, parameter->name, lw_describe(object));
        Py_DECREF(choices);
    }
    return -1;
}

/* Checks that a value is within the limits that the contract sets for the parameter. NaN is outside all limits. */
static int check_limits(const lw_parameter *parameter, PyObject *object, double value) {
    if (value >= parameter->low && value <= parameter->high) {
        return 0;
    }
    return lw_refuse(LW_ARGUMENT_ERROR, "expected %s for %s, got %S", parameter->limits_text, parameter->name,
                     lw_describe(object));
}

/* Returns a number as a double that rounds to the nearest float32, or -1 with an error set. */
static double read_double(PyObject *object) {
    double nearest = PyFloat_AsDouble(object);
    int is_rounded = nearest >= 0x1p53 || nearest <= -0x1p53;
    PyObject *index = is_rounded && !lw_is_float(object) && PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
    if (index) {
        lw_scalar value;
        lw_weakness weakness = lw_parse_number(index, &value);
        nearest = lw_double_for(weakness, value, LW_FLOAT32);
        Py_DECREF(index);
    }
    if (is_rounded) {
        PyErr_Clear(); /* a float of another library, whose __index__ refuses */
    }
    return nearest;
}

int lw_parse_parameter(const lw_parameter *parameter, PyObject *object, lw_scalar *scalar) {
    switch (parameter->type) {
    case LW_PARAMETER_FLOAT:
        scalar->f = read_double(object);
        if (scalar->f == -1.0 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(lw_error_class(LW_ARGUMENT_ERROR))) {
                PyErr_Clear(); /* float() of a tensor with several elements raises ArgumentError */
                lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected a number for %s, got %S", parameter->name,
                         lw_describe(object));
            } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
                lw_raise(LW_RANGE_ERROR, "expected a number within float64 for %s, got a larger int", parameter->name);
            }
            return -1;
        }
        return check_limits(parameter, object, scalar->f);
    case LW_PARAMETER_INT:
        return lw_parse_int(parameter->name, object, LW_RANGE_ERROR, &scalar->i) < 0
                   ? -1
                   : check_limits(parameter, object, (double)scalar->i);
    case LW_PARAMETER_BOOL: {
        int truth = lw_parse_bool(parameter->name, object);
        scalar->i = truth;
        return truth < 0 ? -1 : 0;
    }
    default:
        return parse_choice(parameter, object, scalar);
    }
}

int lw_parse_kernel_parameters(const lw_arguments *arguments, lw_scalar *scalars) {
    const lw_operation *operation = arguments->operation;
    int count = 0;
    for (int i = 0; i < operation->parameter_count; i++) {
        const lw_parameter *parameter = &operation->parameters[i];
        if (parameter->type > LW_PARAMETER_CHOICE) {
            continue;
        }
        PyObject *object = arguments->parameters[i];
        if (!object || (object == Py_None && parameter->default_is_none)) {
            scalars[count] = parameter->default_value;
        } else if (lw_parse_parameter(parameter, object, &scalars[count]) < 0) {
            return -1;
        }
        count++;
    }
    return count;
}

int lw_find_optional(const lw_arguments *arguments, int required, const char *name, PyObject **given) {
    Py_ssize_t keywords = arguments->keyword_names ? PyTuple_Size(arguments->keyword_names) : 0;
    int is_given = arguments->positional_count + keywords == required + 1;
    int is_named = keywords == 1 && arguments->positional_count == required &&
                   PyUnicode_CompareWithASCIIString(PyTuple_GetItem(arguments->keyword_names, 0), name) == 0;
    *given = is_given ? arguments->positional[required] : NULL;
    return is_given ? is_named || keywords == 0 : keywords == 0 && arguments->positional_count == required;
}

int lw_read_int(PyObject *given, int64_t *value) {
    if (!lw_is_int(given) || lw_is_bool(given)) {
        return 0;
    }
    *value = PyLong_AsLongLong(given);
    int is_valid = *value != -1 || !PyErr_Occurred();
    PyErr_Clear();
    return is_valid;
}
