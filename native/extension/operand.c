/* Operands: the array arguments of one call, as the extension reads them. */
#include "operand.h"
#include "call.h"
#include "errors.h"
#include "exchange.h"
#include "float_modes.h"
#include "module.h"
#include <stdio.h>
#include <string.h>

/* The code of one element in a buffer's format, after its byte order; NULL where that is not this machine's. All
 * supported machines are little-endian. */
static const char *element_code(const char *format, Py_ssize_t item_size) {
    if (*format == '>' || *format == '!') {
        return item_size == 1 ? format + 1 : NULL;
    }
    return *format == '@' || *format == '=' || *format == '<' ? format + 1 : format;
}

/* The dtype of a buffer's elements, -1 where Lanewise has none. */
static int dtype_of_code(const char *code, Py_ssize_t item_size) {
    if (!code || code[0] == '\0' || code[1] != '\0') {
        return -1;
    }
    int dtype = -1;
    switch (*code) {
    case '?':
        dtype = LW_BOOL;
        break;
    case 'i':
    case 'l':
    case 'q':
        dtype = item_size == 4 ? LW_INT32 : LW_INT64;
        break;
    case 'e':
        dtype = LW_FLOAT16;
        break;
    case 'f':
        dtype = LW_FLOAT32;
        break;
    case 'd':
        dtype = LW_FLOAT64;
        break;
    default:
        return -1;
    }
    return item_size == lw_item_size(dtype) ? dtype : -1;
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
    if (PyErr_Occurred()) { /* the int exceeds float64, too */
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

/* Reads a NumPy integer whose dtype Lanewise does not have, such as np.int8(1), as a Python int. Returns 0 if the
 * buffer is not one. */
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

/* Zf, Zd and Zg in NumPy, F and D in Python 3.14. */
static int is_complex(const char *code) {
    if (!code || code[0] != 'Z') {
        return code && (code[0] == 'F' || code[0] == 'D');
    }
    return code[1] == 'f' || code[1] == 'd' || code[1] == 'g';
}

/* Raises the error of elements for which Lanewise has no dtype. `code` is NULL for another byte order. */
static void refuse_elements(const char *operation, const char *format, const char *code) {
    static const struct {
        char code;
        const char *name;
        const char *dtype; /* Lanewise's dtype to convert to; NULL for elements that are not real numbers */
    } types[] = {{'b', "int8", "int32"},         {'h', "int16", "int32"},       {'H', "uint16", "int32"},
                 {'I', "uint32", "int64"},       {'L', "uint64", "int64"},      {'Q', "uint64", "int64"},
                 {'g', "longdouble", "float64"}, {'w', "strings", NULL},        {'s', "bytes", NULL},
                 {'c', "bytes", NULL},           {'O', "Python objects", NULL}, {'T', "records", NULL}};
    if (is_complex(code)) {
        PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                     "%s: expected real numbers, got complex ones; compute with their real and imaginary parts "
                     "separately",
                     operation);
        return;
    }
    const char *name = code ? "elements of another type" : "big-endian elements", *dtype = "float32";
    const char *letter = code ? code + strspn(code, "0123456789") : ""; /* skips the length of strings, as in 12w */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (*letter == types[i].code) {
            name = types[i].name;
            dtype = types[i].dtype;
        }
    }
    if (!dtype) {
        PyErr_Format(lw_error_class(LW_DTYPE_ERROR), "%s: expected numbers, got %s%s", operation, name,
                     *letter == 'T'   ? "; give one field, as x['name'] in NumPy"
                     : *letter == 'O' ? "; give an array of one dtype, as x.astype('float32') in NumPy"
                                      : "");
        return;
    }
    PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                 "%s: expected an array of bool, int32, int64, float16, float32, float64 or uint8, got %s (format "
                 "'%s'); convert it first, as x.astype('%s') does in NumPy",
                 operation, name, format, dtype);
}

/* Turns the exporter's error, such as NumPy's for dates, into one of this operation. */
static void reword_refusal(const char *operation, PyObject *object) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) {
        return;
    }
    PyObject *type, *reason, *traceback;
    PyErr_Fetch(&type, &reason, &traceback);
    PyErr_Format(lw_error_class(LW_ARGUMENT_ERROR),
                 "%s: expected numbers in memory that can be shared, got %S (%S); convert it first, as "
                 "x.astype('float32') does in NumPy",
                 operation, lw_describe(object), reason);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(traceback);
}

/* The shape and strides of a buffer. An exporter may leave out either, as ctypes leaves out the strides. */
static int read_geometry(const char *operation, const Py_buffer *view, lw_operand *operand) {
    if (view->ndim > LW_MAX_NDIM) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "%s: expected an array of at most %d dimensions, got %d",
                     operation, LW_MAX_NDIM, view->ndim);
        return -1;
    }
    int is_indirect = !view->shape && view->ndim > 1;
    for (int i = 0; view->suboffsets && i < view->ndim; i++) {
        is_indirect |= view->suboffsets[i] >= 0;
    }
    if (is_indirect) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_ERROR),
                     "%s: expected an array in one block of memory, got pointers to several; copy it first", operation);
        return -1;
    }
    for (int i = 0; i < view->ndim; i++) {
        operand->local_shape[i] = view->shape ? view->shape[i] : view->len / view->itemsize;
        operand->local_strides[i] = view->strides ? view->strides[i] : 0;
    }
    operand->ndim = (int8_t)view->ndim;
    operand->shape = operand->local_shape;
    operand->strides = operand->local_strides;
    if (!view->strides) {
        lw_row_major(view->ndim, operand->local_shape, view->itemsize, operand->local_strides);
    }
    operand->contiguous = (uint8_t)lw_is_row_major(operand->ndim, operand->shape, operand->strides, view->itemsize);
    return 0;
}

/* A new int32 or float32 tensor of the elements of a uint8 buffer. */
static lw_tensor *convert_uint8(const char *operation, const lw_operand *buffer, int dtype) {
    int committed, backend = lw_host_backend(&committed);
    lw_tensor *result = lw_tensor_new(operation, dtype, buffer->ndim, buffer->shape, backend, committed);
    if (!result || result->size == 0) {
        return result;
    }
    int last = buffer->ndim - 1;
    int64_t row = buffer->contiguous ? result->size : buffer->shape[last];
    int64_t stride = buffer->contiguous ? 1 : buffer->strides[last];
    int64_t index[LW_MAX_NDIM] = {0};
    const uint8_t *data = (const uint8_t *)buffer->data;
    for (int64_t start = 0; start < result->size; start += row) {
        if (dtype == LW_FLOAT32) {
            float *floats = (float *)(void *)result->data + start;
            for (int64_t i = 0; i < row; i++) {
                floats[i] = data[i * stride];
            }
        } else {
            int32_t *ints = (int32_t *)(void *)result->data + start;
            for (int64_t i = 0; i < row; i++) {
                ints[i] = data[i * stride];
            }
        }
        for (int axis = last - 1; axis >= 0; axis--) { /* to the next row */
            data += buffer->strides[axis];
            if (++index[axis] < buffer->shape[axis]) {
                break;
            }
            data -= index[axis] * buffer->strides[axis];
            index[axis] = 0;
        }
    }
    return result;
}

static int is_bytes(PyObject *object) {
    return lw_has_type_flag(object, Py_TPFLAGS_BYTES_SUBCLASS) || PyType_IsSubtype(Py_TYPE(object), &PyByteArray_Type);
}

/* Whether any element of a numpy.ma.MaskedArray is masked, -1 with an exception set. */
static int is_masked(PyObject *array) {
    PyObject *mask = PyObject_GetAttrString(array, "mask");
    PyObject *any = mask ? PyObject_CallMethod(mask, "any", NULL) : NULL;
    int result = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(any);
    Py_XDECREF(mask);
    return result;
}

/* Whether an object is a numpy.ma.MaskedArray with masked elements, which its buffer does not reveal; -1 with an
 * exception set. Remembers the last type without a mask, so that ndarray costs one comparison. */
static int has_mask(PyObject *object) {
    static PyTypeObject *unmasked;
    PyTypeObject *type = Py_TYPE(object);
    if (type == unmasked) {
        return 0;
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)type, "soften_mask");
    if (method) {
        Py_DECREF(method);
        return is_masked(object);
    }
    PyErr_Clear();
    Py_INCREF((PyObject *)type);
    Py_XDECREF((PyObject *)unmasked);
    unmasked = type;
    return 0;
}

lw_outcome lw_read_buffer(const char *operation, PyObject *object, int uint8_as, lw_operand *operand) {
    Py_buffer *view = &operand->view;
    if (is_bytes(object)) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                     "%s: expected numbers, got %s; give memoryview(x) to read each byte as an int", operation,
                     lw_has_type_flag(object, Py_TPFLAGS_BYTES_SUBCLASS) ? "bytes" : "bytearray");
        return LW_FAILED;
    }
    int masked = has_mask(object);
    if (masked < 0) {
        return LW_FAILED;
    }
    if (masked) {
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                     "%s: expected an array without a mask, got a numpy.ma array, whose mask would be lost; "
                     "call .filled() first",
                     operation);
        return LW_FAILED;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        reword_refusal(operation, object);
        return LW_FAILED;
    }
    operand->has_view = 1;
    operand->owned = NULL;
    const char *format = view->format ? view->format : "B";
    const char *code = element_code(format, view->itemsize);
    int dtype = dtype_of_code(code, view->itemsize);
    if (dtype < 0 && read_integer_scalar(object, operand)) {
        return LW_DONE;
    }
    int is_uint8 = view->itemsize == 1 && code && strcmp(code, "B") == 0;
    if (dtype < 0 && !is_uint8) {
        refuse_elements(operation, format, code);
        return LW_FAILED;
    }
    if (read_geometry(operation, view, operand) < 0) {
        return LW_FAILED;
    }
    operand->data = view->buf;
    operand->tensor = NULL;
    operand->dtype = (int8_t)dtype;
    operand->weakness = LW_STRONG;
    if (is_uint8) {
        lw_tensor *converted = convert_uint8(operation, operand, uint8_as);
        if (!converted) {
            return LW_FAILED;
        }
        lw_release_operand(operand);
        lw_operand_from_tensor(converted, operand);
        operand->tensor = NULL; /* a temporary, so its backend does not decide where the call runs */
        operand->owned = (PyObject *)converted;
    }
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
        return lw_read_buffer(operation, object, LW_INT32, operand);
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
    case LW_WEAK_FLOAT: /* int64 and float promote to float64, which holds more integers than float32 */
        return strong == LW_INT64 ? LW_FLOAT64 : strong >= LW_FLOAT16 ? strong : LW_FLOAT32;
    default:
        return strong < 0 ? LW_FLOAT32 : strong;
    }
}

/* The dtype in which the operation computes on operands of a dtype, -1 without a kernel. */
static int find_kernel_dtype(const lw_operation *operation, int variant, int computed) {
    const int16_t *kernels = operation->kernels[variant];
    if (kernels[computed] >= 0) {
        return computed;
    }
    if (computed == LW_BOOL && kernels[LW_INT32] >= 0) {
        return LW_INT32;
    }
    return computed <= LW_INT32 && kernels[LW_FLOAT32] >= 0 ? LW_FLOAT32 : -1;
}

/* The dtype of an operand alone. */
static int own_dtype(const lw_operand *operand) {
    return operand->weakness == LW_STRONG       ? operand->dtype
           : operand->weakness == LW_WEAK_BOOL  ? LW_BOOL
           : operand->weakness == LW_WEAK_FLOAT ? LW_FLOAT32
                                                : LW_INT32;
}

enum { DTYPE_LIST_TEXT = 64 };

/* Writes the dtypes on which the operation computes, "bool, int32 or float32". */
static const char *list_kernel_dtypes(char text[DTYPE_LIST_TEXT], const lw_operation *operation, int variant) {
    int left = 0, length = 0;
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        left += find_kernel_dtype(operation, variant, dtype) >= 0;
    }
    text[0] = '\0';
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        if (find_kernel_dtype(operation, variant, dtype) >= 0) {
            left--;
            length += snprintf(text + length, (size_t)(DTYPE_LIST_TEXT - length), "%s%s", lw_dtype_name(dtype),
                               left > 1    ? ", "
                               : left == 1 ? " or "
                                           : "");
        }
    }
    return text;
}

/* Raises the error of operands whose dtype has no kernel: names the first of them and a dtype to convert it to. */
static __attribute__((noinline)) void refuse_dtype(const lw_operation *operation, int variant, int computed,
                                                   const lw_operand *operands, int count) {
    char text[DTYPE_LIST_TEXT];
    const char *dtypes = list_kernel_dtypes(text, operation, variant);
    int target = LW_FLOAT32; /* the widest dtype of a kernel */
    for (int dtype = LW_BOOL; dtype <= LW_FLOAT32; dtype++) {
        target = operation->kernels[variant][dtype] >= 0 ? dtype : target;
    }
    for (int i = 0; i < count; i++) {
        const char *name = operation->inputs[i].name;
        if (!operands[i].data || operation->inputs[i].dtype >= 0 ||
            find_kernel_dtype(operation, variant, own_dtype(&operands[i])) >= 0) {
            continue;
        }
        int is_integer = own_dtype(&operands[i]) == LW_INT64;
        int also_int32 = is_integer && target == LW_FLOAT32 && operation->kernels[variant][LW_INT32] >= 0;
        PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                     "%s: expected %s, got %s for %s; convert it with astype(%s, lw.%s)%s%s%s", operation->name, dtypes,
                     lw_dtype_name(own_dtype(&operands[i])), name, name, lw_dtype_name(target),
                     also_int32 ? " or astype(" : "", also_int32 ? name : "", also_int32 ? ", lw.int32)" : "");
        return;
    }
    PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                 "%s: expected inputs that promote to %s, got %s; convert them with astype(x, lw.%s)", operation->name,
                 dtypes, lw_dtype_name(computed), lw_dtype_name(target));
}

int lw_kernel_dtype(const lw_operation *operation, int variant, int computed, const lw_operand *operands, int count) {
    int dtype = find_kernel_dtype(operation, variant, computed);
    if (dtype < 0) {
        refuse_dtype(operation, variant, computed, operands, count);
    }
    return dtype;
}

/* Rounds a double to IEEE 754 binary16, to nearest even. */
static uint16_t encode_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    if (magnitude > 0x7ff0000000000000) {
        return sign | 0x7e00;
    }
    double absolute = value < 0 ? -value : value;
    if (absolute >= 65520.0) { /* halfway between the largest finite value, 65504, and 2^16 */
        return sign | 0x7c00;
    }
    /* Adding 2^(e+42) rounds to multiples of 2^(e-10), ties to even, which leaves ten fraction bits. Denormal results,
     * below 2^-14, use e = -14. */
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
            PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                         "%s: expected an int for dtype %s, got a float; convert with astype first", operation,
                         lw_dtype_name(dtype));
            return -1;
        }
        if (weakness == LW_WEAK_BIG_INT) {
            PyErr_Format(
                lw_error_class(LW_RANGE_ERROR),
                "%s: expected a number within %s, got an int beyond 64 bits; give a float, or convert with astype",
                operation, lw_dtype_name(dtype));
            return -1;
        }
        if (dtype == LW_INT32 && integer != (int32_t)integer) {
            PyErr_Format(lw_error_class(LW_RANGE_ERROR),
                         "%s: expected a number within %s, got %lld; give a float, or convert with astype", operation,
                         lw_dtype_name(dtype), (long long)integer);
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
    lw_float_modes modes = lw_float_modes_set_default();
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
    lw_tensor *tensor = operand->tensor; /* the original still decides where the call runs */
    lw_release_operand(operand);
    lw_operand_from_tensor(converted, operand);
    operand->tensor = tensor;
    operand->owned = (PyObject *)converted;
    return 0;
}
