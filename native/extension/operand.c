/* Operands: what the extension makes of a Python argument for the length of one call. */
#include "operand.h"
#include "call.h"
#include "errors.h"
#include "exchange.h"
#include "float_modes.h"
#include "module.h"
#include <string.h>

int lw_dtype_of_format(const char *format, Py_ssize_t item_size) {
    if (*format == '@' || *format == '=' || *format == '<') { /* every machine here is little-endian */
        format++;
    }
    if (format[0] == '\0' || format[1] != '\0') {
        return -1;
    }
    switch (*format) {
    case '?':
        return LW_BOOL;
    case 'i':
    case 'l':
    case 'q':
        return item_size == 4 ? LW_INT32 : item_size == 8 ? LW_INT64 : -1;
    case 'e':
        return LW_FLOAT16;
    case 'f':
        return LW_FLOAT32;
    case 'd':
        return LW_FLOAT64;
    default:
        return -1;
    }
}

void lw_leading_dimensions(const lw_operand *operand, int ndim, lw_operand *part) {
    part->data = operand->data;
    part->shape = operand->shape;
    part->strides = operand->strides;
    part->ndim = (int8_t)ndim;
}

lw_weakness lw_parse_number(PyObject *object, lw_scalar *value) {
    if (lw_is_float(object)) {
        value->f = PyFloat_AsDouble(object);
        return LW_WEAK_FLOAT;
    }
    int overflow;
    value->i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow) {
        return lw_is_bool(object) ? LW_WEAK_BOOL : LW_WEAK_INT;
    }
    value->f = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) { /* beyond float64, too */
        PyErr_Clear();
        value->f = overflow * __builtin_inf();
    }
    return LW_WEAK_BIG_INT;
}

static void operand_from_number(PyObject *object, lw_operand *operand) {
    operand->data = (const char *)&operand->scalar;
    operand->shape = operand->local_shape;
    operand->strides = operand->local_strides;
    operand->tensor = NULL;
    operand->owned = NULL;
    operand->ndim = 0;
    operand->weakness = (uint8_t)lw_parse_number(object, &operand->scalar);
    operand->has_view = 0;
    operand->contiguous = 1;
}

int lw_weaken_operand(lw_operand *operand) {
    PyObject *number = lw_item(operand->dtype, operand->data);
    if (!number) {
        return -1;
    }
    lw_release_operand(operand);
    operand_from_number(number, operand);
    Py_DECREF(number);
    return 0;
}

/* An integer of a dtype that is none here, np.uint8(1) for one, as Python's. */
static int read_integer_scalar(PyObject *object, lw_operand *operand) {
    if (operand->view.ndim > 0 || !PyIndex_Check(object)) {
        return 0;
    }
    PyObject *number = PyNumber_Index(object);
    if (!number) {
        PyErr_Clear();
        return 0;
    }
    lw_release_operand(operand);
    operand_from_number(number, operand);
    Py_DECREF(number);
    return 1;
}

/* What NumPy calls the elements of a buffer's format, for those that are met most. */
static const char *foreign_name(const char *format) {
    static const struct {
        char code;
        const char *name;
    } names[] = {{'b', "int8"},   {'B', "uint8"},  {'h', "int16"},  {'H', "uint16"},
                 {'I', "uint32"}, {'L', "uint64"}, {'Q', "uint64"}, {'g', "longdouble"}};
    for (size_t i = 0; format[0] && !format[1] && i < sizeof names / sizeof *names; i++) {
        if (names[i].code == format[0]) {
            return names[i].name;
        }
    }
    return "another type";
}

/* The exporter's refusal, NumPy's of dates for one, as an error of this operation. */
static void reword_refusal(const char *operation, PyObject *object) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) {
        return;
    }
    PyObject *type, *reason, *traceback;
    PyErr_Fetch(&type, &reason, &traceback);
    PyErr_Format(lw_error_class(LW_ARGUMENT_ERROR),
                 "%s: %R does not share its memory (%S); convert it first, as x.astype('float32') does in NumPy",
                 operation, (PyObject *)Py_TYPE(object), reason);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(traceback);
}

static lw_outcome read_buffer(const char *operation, PyObject *object, lw_operand *operand) {
    Py_buffer *view = &operand->view;
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        reword_refusal(operation, object);
        return LW_FAILED;
    }
    operand->has_view = 1;
    operand->owned = NULL;
    int dtype = lw_dtype_of_format(view->format ? view->format : "B", view->itemsize);
    if (dtype < 0 && read_integer_scalar(object, operand)) {
        return LW_DONE;
    }
    if (dtype < 0) {
        const char *format = view->format ? view->format : "B";
        if (strchr(format, 'Z')) {
            PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                         "%s: complex numbers are not supported; compute with their real and imaginary parts apart",
                         operation);
            return LW_FAILED;
        }
        PyErr_Format(
            lw_error_class(LW_DTYPE_ERROR),
            "%s: an array of %s (format '%s', %zd bytes an element) has no dtype here; convert it to bool, "
            "int32, int64, float16, float32 or float64 in native byte order first, as x.astype('float32') does "
            "in NumPy",
            operation, foreign_name(format), format, view->itemsize);
        return LW_FAILED;
    }
    if (view->ndim > LW_MAX_NDIM) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "%s: the array has %d dimensions, at most %d are supported",
                     operation, view->ndim, LW_MAX_NDIM);
        return LW_FAILED;
    }
    operand->data = view->buf;
    operand->shape = operand->local_shape;
    operand->strides = operand->local_strides;
    operand->tensor = NULL;
    operand->dtype = (int8_t)dtype;
    operand->ndim = (int8_t)view->ndim;
    operand->weakness = LW_STRONG;
    for (int i = 0; i < view->ndim; i++) {
        operand->local_shape[i] = view->shape[i];
        operand->local_strides[i] = view->strides[i];
    }
    operand->contiguous = (uint8_t)lw_is_row_major(operand->ndim, operand->shape, operand->strides, view->itemsize);
    return LW_DONE;
}

lw_outcome lw_read_operand(const char *operation, PyObject *object, lw_operand *operand) {
    if (lw_is_tensor(object)) {
        lw_operand_from_tensor((lw_tensor *)object, operand);
        return lw_is_host(((lw_tensor *)object)->backend) ? LW_DONE : LW_NEEDS_PYTHON;
    }
    operand->has_view = 0;
    operand->owned = NULL;
    if (lw_is_float(object) || lw_is_int(object)) {
        operand_from_number(object, operand);
        return LW_DONE;
    }
    if (PyObject_CheckBuffer(object)) {
        return read_buffer(operation, object, operand);
    }
    return LW_NEEDS_PYTHON;
}

void lw_release_operand(lw_operand *operand) {
    if (operand->has_view) {
        PyBuffer_Release(&operand->view);
        operand->has_view = 0;
    }
    Py_XDECREF(operand->owned);
    operand->owned = NULL;
}

int lw_computed_dtype(const lw_operation *operation, const lw_operand *operands, int count) {
    int strong = -1;
    int weak = LW_STRONG;
    for (int i = 0; i < count; i++) {
        if (operation->inputs[i].dtype >= 0 || !operands[i].data) {
            continue;
        }
        if (operands[i].weakness == LW_STRONG) {
            strong = lw_promote(strong, operands[i].dtype);
        } else if (operands[i].weakness > weak) {
            weak = operands[i].weakness;
        }
    }
    switch (weak) {
    case LW_WEAK_BOOL:
        return lw_promote(strong, LW_BOOL);
    case LW_WEAK_INT:
    case LW_WEAK_BIG_INT:
        return lw_promote(strong, LW_INT32);
    case LW_WEAK_FLOAT: /* a float meets 64-bit integers in float64, which holds more of them */
        return strong == LW_INT64 ? LW_FLOAT64 : strong >= LW_FLOAT16 ? strong : LW_FLOAT32;
    default:
        return strong < 0 ? LW_FLOAT32 : strong;
    }
}

int lw_kernel_dtype(const lw_operation *operation, int variant, int computed) {
    const int16_t *kernels = operation->kernels[variant];
    if (kernels[computed] >= 0) {
        return computed;
    }
    if (computed == LW_BOOL && kernels[LW_INT32] >= 0) {
        return LW_INT32;
    }
    if (computed <= LW_INT32 && kernels[LW_FLOAT32] >= 0) {
        return LW_FLOAT32;
    }
    int offered = -1; /* the widest dtype to convert to that has a kernel */
    for (int dtype = LW_BOOL; dtype <= LW_FLOAT32; dtype++) {
        offered = kernels[dtype] >= 0 ? dtype : offered;
    }
    int both = computed == LW_INT64 && offered == LW_FLOAT32 && kernels[LW_INT32] >= 0;
    PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                 "%s: %s inputs are not supported; convert them first, for example with astype(x, lw.%s)%s",
                 operation->name, lw_dtype_name(computed), offered < 0 ? "float32" : lw_dtype_name(offered),
                 both ? " or astype(x, lw.int32)" : "");
    return -1;
}

/* IEEE 754 binary16 from a double, rounded once, to nearest even. */
static uint16_t encode_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    if (magnitude > 0x7ff0000000000000) {
        return sign | 0x7e00;
    }
    double absolute = value < 0 ? -value : value;
    if (absolute >= 65520.0) { /* halfway past the largest finite */
        return sign | 0x7c00;
    }
    /* Adding 2^(e+42) leaves ten fraction bits, rounded to even by the addition; below 2^-14, multiples of 2^-24. */
    int exponent = (int)(magnitude >> 52) - 1023;
    exponent = exponent < -14 ? -14 : exponent;
    uint64_t anchor_bits = (uint64_t)(exponent + 42 + 1023) << 52;
    double anchor;
    memcpy(&anchor, &anchor_bits, sizeof anchor);
    double rounded = absolute + anchor;
    uint64_t rounded_bits;
    memcpy(&rounded_bits, &rounded, sizeof rounded_bits);
    uint64_t significand = rounded_bits - anchor_bits; /* in units of 2^(e-10) */
    return sign | (uint16_t)(((uint64_t)(exponent + 14) << 10) + significand);
}

static int encode(const char *operation, lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    int is_real = weakness >= LW_WEAK_BIG_INT;
    double real = is_real ? value.f : (double)value.i;
    int64_t integer = is_real ? 0 : value.i;
    switch (dtype) {
    case LW_BOOL:
        *(uint8_t *)destination = is_real ? value.f != 0 : value.i != 0;
        return 0;
    case LW_INT32:
    case LW_INT64:
        if (weakness == LW_WEAK_FLOAT) {
            PyErr_Format(lw_error_class(LW_DTYPE_ERROR), "%s: a float does not fit into %s; convert with astype first",
                         operation, lw_dtype_name(dtype));
            return -1;
        }
        if (weakness == LW_WEAK_BIG_INT) {
            PyErr_Format(lw_error_class(LW_RANGE_ERROR),
                         "%s: an int beyond 64 bits does not fit into %s; give a float, or convert with astype",
                         operation, lw_dtype_name(dtype));
            return -1;
        }
        if (dtype == LW_INT32 && integer != (int32_t)integer) {
            PyErr_Format(lw_error_class(LW_RANGE_ERROR),
                         "%s: %lld does not fit into %s; give a float, or convert with astype", operation,
                         (long long)integer, lw_dtype_name(dtype));
            return -1;
        }
        if (dtype == LW_INT32) {
            *(int32_t *)destination = (int32_t)integer;
        } else {
            *(int64_t *)destination = integer;
        }
        return 0;
    case LW_FLOAT16:
        *(uint16_t *)destination = encode_half(real);
        return 0;
    case LW_FLOAT32:
        *(float *)destination = (float)real;
        return 0;
    default:
        *(double *)destination = real;
        return 0;
    }
}

int lw_encode(const char *operation, lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    lw_float_modes modes = lw_float_modes_take_default();
    int status = encode(operation, weakness, value, dtype, destination);
    lw_float_modes_restore(modes);
    return status;
}

int lw_cast_operand(const char *operation, lw_operand *operand, int dtype) {
    if (operand->weakness != LW_STRONG) {
        lw_scalar encoded = {.i = 0};
        if (lw_encode(operation, operand->weakness, operand->scalar, dtype, &encoded) < 0) {
            return -1;
        }
        operand->scalar = encoded;
        operand->weakness = LW_STRONG;
        operand->dtype = (int8_t)dtype;
        return 0;
    }
    if (operand->dtype == dtype) {
        return 0;
    }
    lw_tensor *converted = lw_cast(operation, operand, dtype);
    if (!converted) {
        return -1;
    }
    lw_tensor *tensor = operand->tensor; /* still says where the operand lives */
    lw_release_operand(operand);
    lw_operand_from_tensor(converted, operand);
    operand->tensor = tensor;
    operand->owned = (PyObject *)converted;
    return 0;
}
