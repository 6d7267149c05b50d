/* Converts between Python numbers and the elements of tensors. */
#include "tensor/number.h"
#include "python/errors.h"
#include "system/float_modes.h"
#include "system/half.h"
#include "tensor/tensor.h"
#include <string.h>

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
    double nearest = (double)value.i;
    *rest = nearest < 0x1p63 ? (value.i > (int64_t)nearest) - (value.i < (int64_t)nearest) : -1;
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

static int encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    int is_real = weakness >= LW_WEAK_BIG_INT_BELOW;
    double real = lw_double_for(weakness, value, dtype);
    int64_t integer = is_real ? 0 : value.i;
    switch (dtype) {
    case LW_BOOL:
        *(uint8_t *)destination = is_real ? value.f != 0 : value.i != 0;
        return 0;
    case LW_INT32:
    case LW_INT64:
        if (weakness == LW_WEAK_FLOAT) {
            return lw_refuse(LW_DTYPE_ERROR, "expected an int for dtype %s, got a float; use an int, or a float dtype",
                             lw_dtype_name(dtype));
        }
        if (is_real) {
            return lw_refuse(LW_RANGE_ERROR,
                             "expected a number within %s, got an int beyond 64 bits; use a float, or a float dtype",
                             lw_dtype_name(dtype));
        }
        if (dtype == LW_INT32 && integer != (int32_t)integer) {
            return lw_refuse(LW_RANGE_ERROR, "expected a number within %s, got %lld; use a float, or a wider dtype",
                             lw_dtype_name(dtype), (long long)integer);
        }
        if (dtype == LW_INT32) {
            *(int32_t *)destination = (int32_t)integer;
        } else {
            *(int64_t *)destination = integer;
        }
        return 0;
    case LW_FLOAT16:
        *(uint16_t *)destination = lw_encode_half(real);
        return 0;
    case LW_FLOAT32:
        *(float *)destination = (float)real;
        return 0;
    default:
        *(double *)destination = real;
        return 0;
    }
}

int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    lw_float_modes modes = lw_float_modes_set_default();
    int status = encode(weakness, value, dtype, destination);
    lw_float_modes_restore(modes);
    return status;
}

double lw_decode_float(int dtype, const char *data) {
    union {
        uint16_t half;
        float float32;
        double float64;
    } value;
    memcpy(&value, data, (size_t)lw_item_size(dtype)); /* a borrowed array may be unaligned */
    return dtype == LW_FLOAT16 ? lw_decode_half(value.half) : dtype == LW_FLOAT32 ? value.float32 : value.float64;
}

PyObject *lw_item(int dtype, const char *data) {
    union {
        int32_t int32;
        int64_t int64;
    } value;
    if (lw_is_floating(dtype)) {
        return PyFloat_FromDouble(lw_decode_float(dtype, data));
    }
    memcpy(&value, data, (size_t)lw_item_size(dtype));
    return dtype == LW_BOOL    ? PyBool_FromLong(*data != 0)
           : dtype == LW_INT32 ? PyLong_FromLongLong(value.int32)
                               : PyLong_FromLongLong(value.int64);
}
