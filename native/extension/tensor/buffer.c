/* Reads operands from objects with the buffer protocol: checks formats, strides and masks. */
#include "plan/operand.h"
#include "python/errors.h"
#include <string.h>

/* Returns the type code in a buffer's format, without the leading byte-order character. Returns NULL if the elements
 * are big-endian; all supported machines are little-endian. */
static const char *element_code(const char *format, Py_ssize_t item_size) {
    if (*format == '>' || *format == '!') {
        return item_size == 1 ? format + 1 : NULL;
    }
    return *format == '@' || *format == '=' || *format == '<' ? format + 1 : format;
}

/* Returns the dtype of a buffer's elements, or -1 if Lanewise has no such dtype. */
static int dtype_of_code(const char *code, Py_ssize_t item_size) {
    if (code[0] == '\0' || code[1] != '\0' || item_size < 0 || item_size > LW_MAX_ITEM_SIZE) {
        return -1;
    }
    return lw_sized_dtypes[lw_letter_classes[(unsigned char)*code]][item_size] - 1;
}

/* Returns whether a type code stands for complex numbers: Zf, Zd or Zg in NumPy, F or D in Python 3.14. */
static int is_complex(const char *code) {
    if (code[0] != 'Z') {
        return code[0] == 'F' || code[0] == 'D';
    }
    return code[1] == 'f' || code[1] == 'd' || code[1] == 'g';
}

/* Raises the error for elements of a type for which Lanewise has no dtype. `code` is NULL if the elements are
 * big-endian. */
static void refuse_elements(const char *format, const char *code) {
    static const struct {
        char code;
        const char *name;
        const char *advice;
    } types[] = {{'w', "strings", ""},
                 {'s', "bytes", ""},
                 {'c', "bytes", ""},
                 {'O', "Python objects", "; give an array of one dtype, as x.astype('float32') in NumPy"},
                 {'T', "records", "; give one field, as x['name'] in NumPy"}};
    if (code && is_complex(code)) {
        lw_raise(LW_DTYPE_ERROR,
                 "expected real numbers, got complex ones; compute with their real and imaginary parts separately");
        return;
    }
    const char *letter = code ? code : "";
    while (*letter >= '0' && *letter <= '9') { /* skip the length of a string, as in 12w */
        letter++;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (*letter == types[i].code) {
            lw_raise(LW_DTYPE_ERROR, "expected numbers, got %s%s", types[i].name, types[i].advice);
            return;
        }
    }
    lw_raise(LW_DTYPE_ERROR,
             "expected an array of %s, got %s (format '%s'); convert it first, as x.astype('float64') does in NumPy",
             lw_dtype_list,
             !code            ? "big-endian elements"
             : *letter == 'g' ? "longdouble"
                              : "elements of another type",
             format);
}

/* Replaces the exporter's error, such as NumPy's for dates, by a Lanewise error. */
static void reword_refusal(PyObject *object) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) {
        return;
    }
    PyObject *type, *reason, *traceback;
    PyErr_Fetch(&type, &reason, &traceback);
    lw_raise(LW_ARGUMENT_ERROR,
             "expected a buffer of numbers, got %S (%S); convert it first, for a NumPy array with x.astype('float32')",
             lw_describe(object), reason);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(traceback);
}

/* Reads the shape and strides of a buffer. An exporter may leave out the strides, as ctypes does, or the shape of its
 * only dimension. */
static int read_geometry(const Py_buffer *view, lw_operand *operand) {
    if (view->ndim > LW_MAX_NDIM) {
        return lw_refuse(LW_SHAPE_ERROR, "expected an array of at most %d dimensions, got %d", LW_MAX_NDIM, view->ndim);
    }
    int is_indirect = !view->shape && view->ndim > 1;
    for (int i = 0; view->suboffsets && i < view->ndim; i++) {
        is_indirect |= view->suboffsets[i] >= 0;
    }
    if (is_indirect) {
        return lw_refuse(LW_ARGUMENT_ERROR,
                         "expected an array in one block of memory, got pointers to several; copy it first");
    }
    operand->size = 1;
    for (int i = 0; i < view->ndim; i++) {
        operand->local_shape[i] = view->shape ? view->shape[i] : view->len / view->itemsize;
        operand->size *= operand->local_shape[i];
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

/* Returns whether an object is an array of bfloat16, as the package ml_dtypes defines it for NumPy. NumPy does not
 * export it as a buffer. */
static int is_bfloat16_array(PyObject *object) {
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    int is_found = name && lw_is_string(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    PyErr_Clear();
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    return is_found;
}

/* Returns whether an object has the method astype, by which creation.py converts the array to another byte order. */
static int is_convertible(PyObject *object) {
    PyObject *method = PyObject_GetAttrString(object, "astype");
    PyErr_Clear();
    Py_XDECREF(method);
    return method != NULL;
}

static int is_bytes(PyObject *object) {
    return lw_has_type_flag(object, Py_TPFLAGS_BYTES_SUBCLASS) || PyType_IsSubtype(Py_TYPE(object), &PyByteArray_Type);
}

/* Returns whether any element of a numpy.ma.MaskedArray is masked, or -1 with an exception set on failure. */
static int is_masked(PyObject *array) {
    PyObject *mask = PyObject_GetAttrString(array, "mask");
    PyObject *any = mask ? PyObject_CallMethod(mask, "any", NULL) : NULL;
    int result = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(any);
    Py_XDECREF(mask);
    return result;
}

/* Returns whether an object is a numpy.ma.MaskedArray with masked elements, or -1 with an exception set on failure. The
 * buffer of such an array does not show which elements are masked. Remembers the last type other than MaskedArray, so
 * that the check of an ndarray takes one comparison. */
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
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear();
    Py_INCREF((PyObject *)type);
    Py_XDECREF((PyObject *)unmasked);
    unmasked = type;
    return 0;
}

lw_outcome lw_read_buffer(PyObject *object, lw_operand *operand) {
    Py_buffer *view = &operand->view;
    if (is_bytes(object)) {
        return lw_refuse(LW_ARGUMENT_TYPE_ERROR,
                         "expected numbers, got %s; give memoryview(x) to read each byte as a uint8",
                         lw_has_type_flag(object, Py_TPFLAGS_BYTES_SUBCLASS) ? "bytes" : "bytearray");
    }
    int masked = has_mask(object);
    if (masked < 0) {
        return LW_FAILED;
    }
    if (masked) {
        return lw_refuse(
            LW_ARGUMENT_TYPE_ERROR,
            "expected an array without a mask, got a numpy.ma array, whose mask would be lost; call .filled() first");
    }
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        PyObject *type, *reason, *traceback;
        PyErr_Fetch(&type, &reason, &traceback);
        if (is_bfloat16_array(object)) {
            Py_XDECREF(type);
            Py_XDECREF(reason);
            Py_XDECREF(traceback);
            return LW_NEEDS_PYTHON;
        }
        PyErr_Restore(type, reason, traceback);
        reword_refusal(object);
        return LW_FAILED;
    }
    operand->has_view = 1;
    operand->owned = NULL;
    const char *format = view->format ? view->format : "B";
    const char *code = element_code(format, view->itemsize);
    if (!code && is_convertible(object)) {
        lw_release_operand(operand);
        return LW_NEEDS_PYTHON;
    }
    int dtype = code ? dtype_of_code(code, view->itemsize) : -1;
    if (dtype < 0) {
        refuse_elements(format, code);
        return LW_FAILED;
    }
    if (read_geometry(view, operand) < 0) {
        return LW_FAILED;
    }
    operand->data = view->buf;
    operand->tensor = NULL;
    operand->is_copied = 0;
    operand->dtype = operand->source.dtype = (int8_t)dtype;
    operand->weakness = LW_STRONG;
    return LW_DONE;
}

lw_outcome lw_read_operand(PyObject *object, lw_operand *operand) {
    if (lw_is_tensor(object)) {
        lw_operand_from_tensor((lw_tensor *)object, operand);
        return LW_DONE;
    }
    operand->has_view = 0;
    operand->owned = NULL;
    if (lw_is_float(object) || lw_is_int(object)) {
        lw_operand_from_number(object, operand);
        return LW_DONE;
    }
    if (PyObject_CheckBuffer(object)) {
        return lw_read_buffer(object, operand);
    }
    return LW_NEEDS_PYTHON;
}
