/* Creates tensors from parameters alone, as full and arange do. lanewise/functions/creation.py has the public
 * functions. */
#include "call/call.h"
#include "call/execute.h"
#include "lanewise_operations.h"
#include "python/module.h"
#include "python/python.h"
#include <stdlib.h>

/* Returns whether a kernel parameter, such as a seed, is an int whatever the dtype of the result. */
static int is_int_parameter(const lw_operation *operation, int position) {
    for (int i = 0; i < operation->parameter_count; i++) {
        lw_parameter_type type = operation->parameters[i].type;
        if (type <= LW_PARAMETER_CHOICE && position-- == 0) {
            return type == LW_PARAMETER_INT;
        }
    }
    return 0;
}

/* Parses a kernel parameter. Its dtype is that of the result, unless the contract says that the parameter is an int. It
 * has to be within that dtype, but only full() rounds it to a dtype that is only stored. */
static int parse_kernel_number(const lw_operation *operation, int position, int dtype, PyObject *object,
                               lw_scalar *scalar) {
    lw_weakness weakness = lw_parse_number(object, scalar);
    if (PyErr_Occurred()) {
        return -1;
    }
    int is_real = weakness >= LW_WEAK_BIG_INT_BELOW;
    int as_integer = is_int_parameter(operation, position);
    if (as_integer || lw_is_integer(dtype)) {
        int64_t encoded; /* unused: lw_encode() is called for its errors only */
        return lw_encode(weakness, *scalar, as_integer ? LW_INT64 : dtype, &encoded);
    }
    lw_scalar element;
    if (dtype == LW_BOOL) {
        scalar->i = is_real ? scalar->f != 0 : scalar->i != 0;
    } else if (operation == &lw_operations[LW_OPERATION_full] && dtype != lw_elements(dtype)) {
        lw_encode(weakness, *scalar, dtype, &element);
        lw_decode(dtype, (const char *)&element, scalar);
    } else {
        scalar->f = lw_double_for(weakness, *scalar, lw_elements(dtype));
    }
    return 0;
}

/* Parses the shape and dtype of a new tensor. Returns the number of dimensions, or -1 with an error set. */
static int parse_shape_and_dtype(PyObject *const *arguments, int64_t *shape, int *dtype) {
    int ndim = lw_parse_shape("shape", arguments[0], shape);
    if (ndim < 0 || (*dtype = lw_parse_dtype(arguments[1])) < 0) {
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0) {
            return lw_refuse(LW_SHAPE_ERROR, "expected extents of at least 0 for shape, got %s",
                             lw_shape_text(ndim, shape));
        }
    }
    return ndim;
}

/* allocate(shape, dtype, tensors): returns an uninitialized tensor on the backend that would run an operation on a list
 * of tensors, for callers that write all of its elements. */
static PyObject *allocate(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int64_t shape[LW_MAX_NDIM];
    int dtype;
    int tensors = count == 3 && lw_is_sequence(arguments[2]) ? (int)lw_sequence_size(arguments[2]) : -1;
    if (tensors < 0) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (shape, dtype, tensors)");
    }
    int ndim = parse_shape_and_dtype(arguments, shape, &dtype);
    lw_operand *operands = calloc((size_t)tensors + 1, sizeof *operands);
    for (int i = 0; operands && i < tensors; i++) {
        PyObject *item = lw_sequence_item(arguments[2], i);
        if (lw_is_tensor(item)) {
            lw_operand_from_tensor((lw_tensor *)item, &operands[i]);
        }
    }
    lw_placement placement = operands && ndim >= 0 ? lw_resolve_placement(operands, tensors) : (lw_placement){-1, 0};
    free(operands);
    return !operands               ? PyErr_NoMemory()
           : placement.backend < 0 ? NULL
                                   : (PyObject *)lw_tensor_new(dtype, ndim, shape, placement);
}

/* Returns the dtype whose kernel creates a tensor. CPUs create ranges of float16 and bfloat16 in float64, because they
 * would round twice in float32. full() has rounded its parameter before. */
static int dtype_to_create(const lw_plan *plan, int dtype) {
    int is_rounded = lw_is_floating(dtype) && dtype != lw_elements(dtype);
    int is_range = plan->operation == &lw_operations[LW_OPERATION_arange];
    return is_rounded && is_range && !lw_devices[plan->placement.backend] ? LW_FLOAT64 : dtype;
}

/* Returns a tensor on the CPU that is filled with the parameter of full(). */
static PyObject *copy_number(const lw_plan *plan, int ndim, const int64_t *shape, int dtype) {
    lw_tensor *result = lw_tensor_new(dtype, ndim, shape, plan->placement);
    lw_operand number;
    lw_operand_from_scalar(lw_is_floating(dtype) ? LW_WEAK_FLOAT : LW_WEAK_INT, plan->parameters[0], &number);
    if (result && lw_copy_into(result, &number) < 0) {
        Py_DECREF((PyObject *)result);
        return NULL;
    }
    return (PyObject *)result;
}

/* Runs a creation kernel whose operation and parameters the plan has. */
static PyObject *run_creation(lw_plan *plan, int ndim, const int64_t *shape, int dtype) {
    int is_stored = lw_elements(dtype) != dtype && lw_item_size(dtype) < 4; /* no kernel computes in it */
    plan->placement = plan->result_placement = lw_resolve_placement(NULL, 0);
    if (is_stored && plan->operation == &lw_operations[LW_OPERATION_full] && lw_is_host(plan->placement.backend)) {
        return copy_number(plan, ndim, shape, dtype);
    }
    if (plan->placement.backend < 0 || lw_set_kernel(plan, 0, dtype_to_create(plan, dtype)) < 0 ||
        lw_set_result(plan, ndim, shape) < 0) {
        return NULL;
    }
    plan->result_dtype = (int8_t)dtype;
    lw_plan_elements(plan);
    return lw_execute(plan, NULL);
}

/* create(operation, shape, dtype, parameters): runs a creation kernel. Like allocate(), leaves it to the function that
 * the user called to name errors: zeros runs the kernel of full. */
static PyObject *create(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int is_valid = count == 4 && lw_is_string(arguments[0]) && lw_is_tuple(arguments[3]);
    const char *name = is_valid ? PyUnicode_AsUTF8AndSize(arguments[0], NULL) : NULL;
    const lw_operation *operation = name ? lw_find_operation(name) : NULL;
    if (!operation || operation->kind != LW_KIND_CREATION) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR,
                        "expected (operation, shape, dtype, parameters), with a tuple of parameters");
    }
    int64_t shape[LW_MAX_NDIM];
    int dtype;
    int ndim = parse_shape_and_dtype(arguments + 1, shape, &dtype);
    if (ndim < 0) {
        return NULL;
    }
    if (operation->kernels[0][dtype] < 0) {
        return lw_raise(LW_DTYPE_ERROR,
                        "expected a dtype with a kernel, got %s; create float32 and convert it by astype",
                        lw_dtype_name(dtype));
    }
    lw_plan plan = {.operation = operation, .result_count = 1};
    Py_ssize_t parameter_count = PyTuple_Size(arguments[3]);
    for (Py_ssize_t i = 0; i < parameter_count && i < LW_MAX_PARAMETERS; i++) {
        PyObject *number = PyTuple_GetItem(arguments[3], i);
        if (parse_kernel_number(operation, (int)i, dtype, number, &plan.parameters[i]) < 0) {
            return NULL;
        }
    }
    return run_creation(&plan, ndim, shape, dtype);
}

static PyObject *create_from(const lw_operation *operation, int ndim, const int64_t *shape, int dtype, lw_scalar first,
                             lw_scalar second) {
    lw_plan plan = {.operation = operation, .result_count = 1, .parameters = {first, second}};
    return run_creation(&plan, ndim, shape, dtype);
}

static lw_scalar whole_number(int dtype, int64_t value) {
    return lw_is_floating(dtype) ? (lw_scalar){.f = (double)value} : (lw_scalar){.i = value};
}

/* Calls arange with small ints, and perhaps a dtype that includes them. */
static PyObject *call_arange(const lw_arguments *arguments) {
    const lw_operation *arange = arguments->operation;
    int64_t numbers[3] = {0, 0, 1}, *given = numbers + (arguments->positional_count == 1);
    PyObject *dtype_given;
    int is_simple = arguments->positional_count <= 3 &&
                    lw_find_optional(arguments, (int)arguments->positional_count, "dtype", &dtype_given);
    for (Py_ssize_t i = 0; i < arguments->positional_count && is_simple; i++) {
        is_simple = lw_read_int(arguments->positional[i], &given[i]) && given[i] == (int32_t)given[i];
    }
    int64_t step = numbers[2], distance = numbers[1] - numbers[0];
    if (!is_simple || step == 0) {
        return NULL;
    }
    int dtype = dtype_given && dtype_given != Py_None ? lw_parse_dtype(dtype_given) : lw_default_integer;
    PyErr_Clear(); /* Python raises the error */
    if (dtype < 0 || lw_item_size(dtype) < 4 || (lw_is_integer(dtype) && lw_lowest_integer(dtype) == 0)) {
        return NULL;
    }
    int64_t count = distance == 0 || (distance < 0) != (step < 0) ? 0 : (distance - (step > 0 ? 1 : -1)) / step + 1;
    return create_from(arange, 1, &count, dtype, whole_number(dtype, numbers[0]), whole_number(dtype, step));
}

/* Reads a shape, an int or a tuple of ints, and the optional dtype behind `required` arguments; if it is absent,
 * `dtype` stays as it is. Returns the number of dimensions, or -1, without an error set, if Python has to read them. */
static int find_shape(const lw_arguments *arguments, int required, int64_t *shape, int *dtype) {
    PyObject *given = arguments->positional[0], *dtype_given;
    if (arguments->positional_count < required || !lw_find_optional(arguments, required, "dtype", &dtype_given) ||
        !(lw_is_int(given) || lw_is_tuple(given))) {
        return -1;
    }
    *dtype = dtype_given && dtype_given != Py_None ? lw_parse_dtype(dtype_given) : *dtype;
    int ndim = *dtype < 0 ? -1 : lw_parse_shape("shape", given, shape);
    for (int i = 0; i < ndim; i++) {
        ndim = shape[i] < 0 ? -1 : ndim;
    }
    PyErr_Clear(); /* Python raises the error */
    return ndim;
}

/* Calls zeros or ones. */
static PyObject *call_filled(const lw_arguments *arguments, int value) {
    int64_t shape[LW_MAX_NDIM];
    int dtype = lw_default_floating, ndim = find_shape(arguments, 1, shape, &dtype);
    if (ndim < 0) {
        return NULL;
    }
    lw_scalar number = whole_number(dtype, value);
    return create_from(&lw_operations[LW_OPERATION_full], ndim, shape, dtype, number, number);
}

/* Calls full with an int that every dtype but bool includes, or a float. */
static PyObject *call_full(const lw_arguments *arguments) {
    PyObject *given = arguments->positional_count < 2 ? NULL : arguments->positional[1];
    int64_t shape[LW_MAX_NDIM], value = 0;
    int is_real = given && lw_is_float(given), dtype = is_real ? lw_default_floating : lw_default_integer;
    int ndim = find_shape(arguments, 2, shape, &dtype);
    if (ndim < 0 || dtype == LW_BOOL ||
        (is_real ? dtype != LW_FLOAT32 && dtype != LW_FLOAT64
                 : !lw_read_int(given, &value) || value < 0 || value > INT8_MAX)) {
        return NULL;
    }
    lw_scalar number = is_real ? (lw_scalar){.f = PyFloat_AsDouble(given)} : whole_number(dtype, value);
    return create_from(arguments->operation, ndim, shape, dtype, number, number);
}

enum { MAX_RANDOM = 1 << 20 };

/* Calls rand or randn for not too many numbers of the stream of this process. */
static PyObject *call_random(const lw_arguments *arguments) {
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    int dtype = lw_default_floating, ndim = find_shape(arguments, 1, shape, &dtype);
    int64_t bytes = ndim < 0 ? -1 : lw_row_major(ndim, shape, 4, strides), words = dtype == LW_FLOAT64 ? 2 : 1;
    if (bytes < 0 || bytes / 4 > MAX_RANDOM || (dtype != LW_FLOAT32 && dtype != LW_FLOAT64) ||
        arguments->positional_count > 1) {
        return NULL;
    }
    PyObject *count = PyLong_FromLongLong(bytes / 4 * words + words - 1);
    PyObject *reserved = count ? lw_call_hook("reserve_random", NULL, count, NULL, NULL) : NULL;
    lw_scalar seed, offset; /* in elements */
    PyObject *result = NULL;
    if (reserved) {
        seed.i = PyLong_AsLongLong(PyTuple_GetItem(reserved, 0));
        offset.i = (PyLong_AsLongLong(PyTuple_GetItem(reserved, 1)) + words - 1) / words;
        result = create_from(arguments->operation, ndim, shape, dtype, seed, offset);
    }
    Py_XDECREF(count);
    Py_XDECREF(reserved);
    return result;
}

PyObject *lw_call_created(const lw_arguments *arguments) {
    const lw_operation *operation = arguments->operation;
    return operation == &lw_operations[LW_OPERATION_zeros]    ? call_filled(arguments, 0)
           : operation == &lw_operations[LW_OPERATION_ones]   ? call_filled(arguments, 1)
           : operation == &lw_operations[LW_OPERATION_full]   ? call_full(arguments)
           : operation == &lw_operations[LW_OPERATION_arange] ? call_arange(arguments)
           : operation == &lw_operations[LW_OPERATION_rand] || operation == &lw_operations[LW_OPERATION_randn]
               ? call_random(arguments)
               : NULL;
}

static PyObject *set_default_dtype(PyObject *module, PyObject *object) {
    int dtype = lw_parse_dtype(object);
    if (dtype >= 0) {
        *(lw_is_floating(dtype) ? &lw_default_floating : &lw_default_integer) = (int8_t)dtype;
    }
    return dtype < 0 ? NULL : Py_NewRef(Py_None);
}

PyMethodDef lw_creation_functions[] = {
    {"allocate", (PyCFunction)(void *)allocate, METH_FASTCALL, NULL},
    {"set_default_dtype", set_default_dtype, METH_O, NULL},
    {"create", (PyCFunction)(void *)create, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
