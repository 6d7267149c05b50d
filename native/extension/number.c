/* Converts between Python numbers and the elements of tensors. */
#include "number.h"
#include "errors.h"
#include "float_modes.h"
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
    if (absolute >= 65520.0) { /* the midpoint of 65504 (the largest finite value) and 2^16: rounds to infinity */
        return sign | 0x7c00;
    }
    /* With e the exponent of the value, adding 2^(e+42) rounds the 53-bit sum to a multiple of 2^(e-10), ties to even,
     * which leaves ten fraction bits. Denormal results, below 2^-14, use e = -14. */
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

int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    lw_float_modes modes = lw_float_modes_set_default();
    int status = encode(weakness, value, dtype, destination);
    lw_float_modes_restore(modes);
    return status;
}

static double decode_half(uint16_t half) {
    int exponent = half >> 10 & 31;
    double significand = half & 1023;
    double magnitude;
    if (exponent == 31) {
        magnitude = significand ? __builtin_nan("") : __builtin_inf();
    } else if (exponent == 0) {
        magnitude = significand * 0x1p-24;
    } else {
        uint64_t bits = (uint64_t)(exponent - 15 + 1023) << 52;
        double power;
        memcpy(&power, &bits, sizeof power);
        magnitude = (1 + significand * 0x1p-10) * power;
    }
    return half & 0x8000 ? -magnitude : magnitude;
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
        return PyFloat_FromDouble(decode_half(value.half));
    case LW_FLOAT32:
        return PyFloat_FromDouble(value.float32);
    default:
        return PyFloat_FromDouble(value.float64);
    }
}
