/* Converts between Python numbers and the elements of tensors. */
#include "tensor/number.h"
#include "python/errors.h"
#include "system/float_modes.h"
#include "system/half.h"
#include "tensor/tensor.h"
#include <stdio.h>
#include <string.h>

int8_t lw_default_integer = LW_INT32;
int8_t lw_default_floating = LW_FLOAT32;

/* Returns whether a number is greater than another, which Python compares exactly. */
static int exceeds(PyObject *a, PyObject *b) {
    PyObject *is_greater = a && b ? PyObject_RichCompare(a, b, Py_GT) : NULL;
    PyErr_Clear();
    Py_XDECREF(is_greater);
    return is_greater == Py_True;
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
    value->i = (int64_t)PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) {
        return LW_WEAK_UINT64;
    }
    PyErr_Clear();
    value->f = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) { /* the int exceeds the range of float64 as well */
        PyErr_Clear();
        value->f = overflow * __builtin_inf();
    }
    PyObject *nearest = PyFloat_FromDouble(value->f);
    lw_weakness weakness = exceeds(object, nearest)   ? LW_WEAK_BIG_INT_ABOVE
                           : exceeds(nearest, object) ? LW_WEAK_BIG_INT_BELOW
                                                      : LW_WEAK_BIG_INT;
    Py_XDECREF(nearest);
    return weakness;
}

double lw_nearest_double(lw_weakness weakness, lw_scalar value, int *rest) {
    if (weakness >= LW_WEAK_BIG_INT_BELOW) {
        *rest = weakness == LW_WEAK_FLOAT ? 0 : (int)weakness - LW_WEAK_BIG_INT;
        return value.f;
    }
    double nearest = weakness == LW_WEAK_UINT64 ? (double)(uint64_t)value.i : (double)value.i;
    double limit = weakness == LW_WEAK_UINT64 ? 0x1p64 : 0x1p63;
    if (nearest >= limit) {
        *rest = -1;
    } else if (weakness == LW_WEAK_UINT64) {
        *rest = ((uint64_t)value.i > (uint64_t)nearest) - ((uint64_t)value.i < (uint64_t)nearest);
    } else {
        *rest = (value.i > (int64_t)nearest) - (value.i < (int64_t)nearest);
    }
    return nearest;
}

double lw_double_for(lw_weakness weakness, lw_scalar value, int dtype) {
    int rest;
    lw_scalar real = {.f = lw_nearest_double(weakness, value, &rest)};
    if (rest && dtype != LW_FLOAT64 && !(real.i & 1)) {
        /* Round to odd: of the two doubles around the number, take the one whose last bit is set. It is on the same
         * side as the number of whatever is halfway between two elements. */
        real.i += rest > 0 == real.f > 0 ? 1 : -1;
    }
    return real.f;
}

int lw_outside(lw_weakness weakness, lw_scalar value, int dtype) {
    if (weakness != LW_WEAK_UINT64 && value.i < 0) {
        return value.i < lw_lowest_integer(dtype) ? -1 : 0;
    }
    return (uint64_t)value.i > (uint64_t)lw_highest_integer(dtype);
}

static int refuse_range(int dtype, long long integer, int is_unsigned) {
    char text[24];
    snprintf(text, sizeof text, is_unsigned ? "%llu" : "%lld", integer);
    const char *wider = lw_item_size(dtype) < 8 ? "a wider dtype" : is_unsigned ? "uint64" : "int64";
    return lw_refuse(LW_RANGE_ERROR, "expected a number within %s, from %lld to %llu, got %s; use a float, or %s",
                     lw_dtype_name(dtype), (long long)lw_lowest_integer(dtype),
                     (unsigned long long)lw_highest_integer(dtype), text, wider);
}

/* Copies 1, 2, 4 or 8 bytes. In WebAssembly, memcpy of another size than a constant calls the engine. */
static void copy_item(void *to, const void *from, int64_t size) {
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

/* Writes an int as an element of an integer dtype. */
static int encode_integer(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    if (weakness == LW_WEAK_FLOAT) {
        return lw_refuse(LW_DTYPE_ERROR, "expected an int for dtype %s, got a float; use an int, or a float dtype",
                         lw_dtype_name(dtype));
    }
    if (lw_is_big_int(weakness)) {
        return lw_refuse(LW_RANGE_ERROR,
                         "expected a number within %s, got an int beyond 64 bits; use a float, or a float dtype",
                         lw_dtype_name(dtype));
    }
    if (lw_outside(weakness, value, dtype)) {
        return refuse_range(dtype, value.i, weakness == LW_WEAK_UINT64);
    }
    copy_item(destination, &value.i, lw_item_size(dtype)); /* supported machines are little-endian */
    return 0;
}

static int encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    int is_real = weakness >= LW_WEAK_BIG_INT_BELOW;
    if (lw_is_integer(dtype)) {
        return encode_integer(weakness, value, dtype, destination);
    }
    double real = lw_double_for(weakness, value, dtype);
    if (dtype == LW_BOOL) {
        *(uint8_t *)destination = is_real ? value.f != 0 : value.i != 0;
    } else if (lw_item_size(dtype) == 2) {
        *(uint16_t *)destination = lw_encode_half(real, lw_dtypes[dtype].fraction);
    } else if (dtype == LW_FLOAT32) {
        *(float *)destination = (float)real;
    } else {
        *(double *)destination = real;
    }
    return 0;
}

int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    lw_float_modes modes = lw_float_modes_set_default();
    int status = encode(weakness, value, dtype, destination);
    lw_float_modes_restore(modes);
    return status;
}

static double decode_float(int dtype, const char *data) {
    union {
        uint16_t half;
        float float32;
        double float64;
    } value;
    copy_item(&value, data, lw_item_size(dtype)); /* a borrowed array may be unaligned */
    return lw_item_size(dtype) == 2 ? lw_decode_half(value.half, lw_dtypes[dtype].fraction)
           : dtype == LW_FLOAT32    ? value.float32
                                    : value.float64;
}

lw_weakness lw_decode(int dtype, const char *data, lw_scalar *value) {
    if (lw_is_floating(dtype)) {
        value->f = decode_float(dtype, data);
        return LW_WEAK_FLOAT;
    }
    if (dtype == LW_BOOL) {
        value->i = *data != 0;
        return LW_WEAK_BOOL;
    }
    int rest = 64 - 8 * (int)lw_item_size(dtype);
    uint64_t bits = 0;
    copy_item(&bits, data, lw_item_size(dtype));
    bits <<= rest;
    value->i = lw_dtypes[dtype].class == LW_CLASS_SIGNED ? (int64_t)bits >> rest : (int64_t)(bits >> rest);
    return dtype == LW_UINT64 && value->i < 0 ? LW_WEAK_UINT64 : LW_WEAK_INT;
}

PyObject *lw_item(int dtype, const char *data) {
    lw_scalar value;
    switch (lw_decode(dtype, data, &value)) {
    case LW_WEAK_FLOAT:
        return PyFloat_FromDouble(value.f);
    case LW_WEAK_BOOL:
        return PyBool_FromLong((long)value.i);
    case LW_WEAK_UINT64:
        return PyLong_FromUnsignedLongLong((unsigned long long)value.i);
    default:
        return PyLong_FromLongLong(value.i);
    }
}
