/* Operands: the array arguments of one call, as the extension reads them. */
#include "operand.h"
#include "call.h"
#include "errors.h"
#include "exchange.h"
#include "float_modes.h"
#include <stdio.h>
#include <string.h>

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
    if (PyErr_Occurred()) { /* the int exceeds the range of float64 as well */
        PyErr_Clear();
        value->f = overflow * __builtin_inf();
    }
    return LW_WEAK_BIG_INT;
}

void lw_operand_from_number(PyObject *object, lw_operand *operand) {
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
    lw_operand_from_number(number, operand);
    Py_DECREF(number);
    return 0;
}

lw_outcome lw_read_operand(PyObject *object, lw_operand *operand) {
    if (lw_is_tensor(object)) {
        lw_operand_from_tensor((lw_tensor *)object, operand);
        return lw_require_host(((lw_tensor *)object)->backend);
    }
    operand->has_view = 0;
    operand->owned = NULL;
    if (lw_is_float(object) || lw_is_int(object)) {
        lw_operand_from_number(object, operand);
        return LW_DONE;
    }
    if (PyObject_CheckBuffer(object)) {
        return lw_read_buffer(object, LW_INT32, operand);
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
    case LW_WEAK_FLOAT: /* int64 and float promote to float64, which represents more integers than float32 */
        return strong == LW_INT64 ? LW_FLOAT64 : strong >= LW_FLOAT16 ? strong : LW_FLOAT32;
    default:
        return strong < 0 ? LW_FLOAT32 : strong;
    }
}

/* Returns the dtype of the kernel for operands that promote to `computed`, or -1 if there is no kernel. */
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

/* Returns the dtype of an operand, ignoring the other operands. */
static int own_dtype(const lw_operand *operand) {
    return operand->weakness == LW_STRONG       ? operand->dtype
           : operand->weakness == LW_WEAK_BOOL  ? LW_BOOL
           : operand->weakness == LW_WEAK_FLOAT ? LW_FLOAT32
                                                : LW_INT32;
}

enum { DTYPE_LIST_TEXT = 64 };

/* Writes the dtypes that the operation accepts, as in "bool, int32 or float32". */
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

/* Raises the error for operands that promote to a dtype without a kernel. The message names the first operand whose own
 * dtype the operation does not accept, or, if it accepts each of them, the dtype to which they promote. The message
 * also suggests a dtype to convert to. */
static __attribute__((noinline)) void refuse_dtype(const lw_operation *operation, int variant, int computed,
                                                   const lw_operand *operands, int count) {
    char text[DTYPE_LIST_TEXT];
    const char *dtypes = list_kernel_dtypes(text, operation, variant);
    int target = LW_FLOAT32; /* the suggestion: the last dtype up to float32, in promotion order, with a kernel */
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
                     "expected %s, got %s for %s; convert it with astype(%s, lw.%s)%s%s%s", dtypes,
                     lw_dtype_name(own_dtype(&operands[i])), name, name, lw_dtype_name(target),
                     also_int32 ? " or astype(" : "", also_int32 ? name : "", also_int32 ? ", lw.int32)" : "");
        return;
    }
    PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                 "expected inputs that promote to %s, got %s; convert them with astype(x, lw.%s)", dtypes,
                 lw_dtype_name(computed), lw_dtype_name(target));
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
            PyErr_Format(lw_error_class(LW_DTYPE_ERROR),
                         "expected an int for dtype %s, got a float; use an int, or a float dtype",
                         lw_dtype_name(dtype));
            return -1;
        }
        if (weakness == LW_WEAK_BIG_INT) {
            PyErr_Format(lw_error_class(LW_RANGE_ERROR),
                         "expected a number within %s, got an int beyond 64 bits; use a float, or a float dtype",
                         lw_dtype_name(dtype));
            return -1;
        }
        if (dtype == LW_INT32 && integer != (int32_t)integer) {
            PyErr_Format(lw_error_class(LW_RANGE_ERROR),
                         "expected a number within %s, got %lld; use a float, or a wider dtype", lw_dtype_name(dtype),
                         (long long)integer);
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

int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination) {
    lw_float_modes modes = lw_float_modes_set_default();
    int status = encode(weakness, value, dtype, destination);
    lw_float_modes_restore(modes);
    return status;
}

int lw_cast_operand(lw_operand *operand, int dtype) {
    if (operand->weakness != LW_STRONG) {
        lw_scalar encoded = {.i = 0};
        if (lw_encode(operand->weakness, operand->scalar, dtype, &encoded) < 0) {
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
    lw_tensor *converted = lw_cast(operand, dtype);
    if (!converted) {
        return -1;
    }
    lw_release_operand(operand);
    lw_operand_from_tensor(converted, operand);
    operand->owned = (PyObject *)converted;
    return 0;
}
