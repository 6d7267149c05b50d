/* Converts between Python numbers and the elements of tensors. */
#include "number.h"
#include "errors.h"
#include "float_modes.h"
#include "half.h"
#include "tensor.h"
#include <string.h>

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
    return LW_WEAK_BIG_INT;
}

static int encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
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
            return lw_refuse(LW_DTYPE_ERROR, "expected an int for dtype %s, got a float; use an int, or a float dtype",
                             lw_dtype_name(dtype));
        }
        if (weakness == LW_WEAK_BIG_INT) {
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

PyObject *lw_item(int dtype, const char *data) {
    union {
        int32_t int32;
        int64_t int64;
        uint16_t half;
        float float32;
        double float64;
    } value;
    memcpy(&value, data, (size_t)lw_item_size(dtype)); /* a borrowed array may be unaligned */
    switch (dtype) {
    case LW_BOOL:
        return PyBool_FromLong(*data != 0);
    case LW_INT32:
        return PyLong_FromLongLong(value.int32);
    case LW_INT64:
        return PyLong_FromLongLong(value.int64);
    case LW_FLOAT16:
        return PyFloat_FromDouble(lw_decode_half(value.half));
    case LW_FLOAT32:
        return PyFloat_FromDouble(value.float32);
    default:
        return PyFloat_FromDouble(value.float64);
    }
}
