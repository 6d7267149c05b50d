/* Operands: the array arguments of one call, as the extension reads them. */
#include "plan/operand.h"
#include "python/errors.h"
#include <stdio.h>
#include <string.h>

void lw_borrow_operand(const lw_operand *operand, int ndim, lw_operand *part) {
    memcpy(part, operand, offsetof(lw_operand, local_shape)); /* what follows, pointers go on referring to */
    part->data = lw_is_number(operand) ? (const char *)&part->scalar : operand->data;
    part->owned = NULL;
    part->ndim = (int8_t)ndim;
    part->has_view = 0;
}

void lw_keep_stored(lw_operand *operand) {
    const lw_source *source = &operand->source;
    operand->shape = source->shape;
    operand->strides = source->strides;
    operand->dtype = source->dtype;
    operand->ndim = source->ndim;
    operand->contiguous = source->contiguous;
    operand->is_copied = 0;
}

void lw_stored_operand(const lw_operand *operand, lw_operand *stored) {
    lw_borrow_operand(operand, operand->ndim, stored);
    if (operand->is_copied) {
        stored->source = operand->source;
        lw_keep_stored(stored);
    }
}

void lw_operand_from_scalar(lw_weakness weakness, lw_scalar scalar, lw_operand *operand) {
    operand->scalar = scalar;
    operand->data = (const char *)&operand->scalar;
    operand->shape = operand->local_shape;
    operand->strides = operand->local_strides;
    operand->size = 1;
    operand->tensor = NULL;
    operand->owned = NULL;
    operand->dtype = weakness == LW_WEAK_BOOL    ? LW_BOOL
                     : weakness == LW_WEAK_FLOAT ? lw_default_floating
                                                 : lw_default_integer;
    operand->ndim = 0;
    operand->weakness = (uint8_t)weakness;
    operand->has_view = 0;
    operand->contiguous = 1;
    operand->is_copied = 0;
}

void lw_operand_from_number(PyObject *object, lw_operand *operand) {
    lw_scalar scalar;
    lw_weakness weakness = lw_parse_number(object, &scalar);
    lw_operand_from_scalar(weakness, scalar, operand);
}

void lw_weaken_operand(lw_operand *operand) {
    lw_scalar number;
    lw_weakness weakness = lw_decode(operand->dtype, operand->data, &number);
    lw_release_operand(operand);
    lw_operand_from_scalar(weakness, number, operand);
}

void lw_release_operand(lw_operand *operand) {
    if (operand->has_view) {
        PyBuffer_Release(&operand->view);
        operand->has_view = 0;
    }
    Py_XDECREF(operand->owned);
    operand->owned = NULL;
}

void lw_own_operand(lw_operand *operand, lw_tensor *tensor) {
    lw_release_operand(operand);
    lw_operand_from_tensor(tensor, operand);
    operand->owned = (PyObject *)tensor;
}

int lw_promoted_dtype(const lw_operation *operation, const lw_operand *operands, int count) {
    int strong = -1;
    int weak = LW_STRONG;
    for (int i = 0; i < count; i++) {
        if (operation->inputs[i].dtype >= 0 || !operands[i].data) {
            continue;
        }
        if (operands[i].weakness != LW_STRONG) {
            weak = operands[i].weakness > weak ? operands[i].weakness : weak;
            continue;
        }
        int both = lw_promote(strong, operands[i].dtype);
        if (both < 0) {
            return lw_refuse(
                LW_DTYPE_ERROR,
                "expected inputs that promote to one dtype, got %s and %s; convert one of them with astype",
                lw_dtype_name(strong), lw_dtype_name(operands[i].dtype));
        }
        strong = both;
    }
    if (weak == LW_WEAK_FLOAT) {
        return strong < 0 ? lw_default_floating : lw_is_floating(strong) ? strong : lw_floating_dtype(strong);
    }
    if (strong < 0) {
        return weak == LW_STRONG ? lw_default_floating : weak == LW_WEAK_BOOL ? LW_BOOL : lw_default_integer;
    }
    return strong == LW_BOOL && weak > LW_WEAK_BOOL ? lw_default_integer : strong;
}

/* Returns which dtype's kernel computes operands of dtype `promoted`, or -1 if none does. */
static int find_kernel_dtype(const lw_operation *operation, int variant, int promoted) {
    const int16_t *kernels = operation->kernels[variant];
    if (lw_default_floating == LW_FLOAT64 && lw_is_integer(promoted) && operation->results[promoted] == LW_FLOAT32 &&
        kernels[LW_INT64] >= 0) {
        return LW_INT64; /* whose results are float64 */
    }
    if (kernels[promoted] >= 0) {
        return promoted;
    }
    if (promoted == LW_BOOL && kernels[LW_INT32] >= 0) {
        return LW_INT32;
    }
    int floating = lw_floating_dtype(promoted);
    return !lw_is_floating(promoted) && kernels[floating] >= 0 ? floating : -1;
}

enum { DTYPE_LIST_TEXT = 160 };

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
            const char *separator = left > 1 ? ", " : left ? " or " : "";
            length +=
                snprintf(text + length, (size_t)(DTYPE_LIST_TEXT - length), "%s%s", lw_dtype_name(dtype), separator);
        }
    }
    return text;
}

/* Raises the error for operands that promote to a dtype without a kernel. The message names the first operand whose own
 * dtype the operation does not accept, or, if it accepts each of them, the dtype to which they promote. The message
 * also suggests a dtype to convert to. */
static __attribute__((noinline)) void refuse_dtype(const lw_operation *operation, int variant, int promoted,
                                                   const lw_operand *operands, int count) {
    char text[DTYPE_LIST_TEXT];
    const char *dtypes = list_kernel_dtypes(text, operation, variant);
    const int16_t *kernels = operation->kernels[variant];
    int target = kernels[LW_FLOAT32] >= 0 || kernels[LW_INT32] < 0 ? LW_FLOAT32 : LW_INT32; /* the suggestion */
    for (int i = 0; i < count; i++) {
        const char *name = operation->inputs[i].name;
        if (!operands[i].data || operation->inputs[i].dtype >= 0 ||
            find_kernel_dtype(operation, variant, operands[i].dtype) >= 0) {
            continue;
        }
        int is_integer = lw_is_integer(operands[i].dtype);
        int also_int32 = is_integer && target == LW_FLOAT32 && kernels[LW_INT32] >= 0;
        lw_raise(LW_DTYPE_ERROR, "expected %s, got %s for %s; convert it with astype(%s, lw.%s)%s%s%s", dtypes,
                 lw_dtype_name(operands[i].dtype), name, name, lw_dtype_name(target), also_int32 ? " or astype(" : "",
                 also_int32 ? name : "", also_int32 ? ", lw.int32)" : "");
        return;
    }
    lw_raise(LW_DTYPE_ERROR, "expected inputs that promote to %s, got %s; convert them with astype(x, lw.%s)", dtypes,
             lw_dtype_name(promoted), lw_dtype_name(target));
}

int lw_kernel_dtype(const lw_operation *operation, int variant, int promoted, const lw_operand *operands, int count) {
    int dtype = find_kernel_dtype(operation, variant, promoted);
    if (dtype < 0) {
        refuse_dtype(operation, variant, promoted, operands, count);
    }
    return dtype;
}

int lw_copy_operand(lw_operand *operand, int dtype) {
    if (lw_checked_row_major(dtype, operand->ndim, operand->shape, operand->copy_strides) < 0) {
        return -1;
    }
    if (!operand->is_copied) {
        operand->source =
            (lw_source){operand->shape, operand->strides, operand->dtype, operand->ndim, operand->contiguous};
    }
    operand->is_copied = 1;
    operand->rounding = -1;
    operand->dtype = (int8_t)dtype;
    operand->strides = operand->copy_strides;
    operand->contiguous = 1;
    return 0;
}

int lw_convert_operand(lw_operand *operand, int dtype) {
    if (operand->weakness == LW_STRONG) {
        return operand->dtype == dtype ? 0 : lw_copy_operand(operand, dtype);
    }
    lw_scalar encoded = {.i = 0};
    if (lw_encode(operand->weakness, operand->scalar, dtype, &encoded) < 0) {
        return -1;
    }
    operand->scalar = encoded;
    operand->weakness = LW_STRONG;
    operand->dtype = (int8_t)dtype;
    return 0;
}

int lw_promote_operand(lw_operand *operand, int dtype, int read_dtype) {
    if (dtype == read_dtype) {
        return lw_convert_operand(operand, dtype);
    }
    if (operand->weakness == LW_STRONG) {
        int is_rounded = lw_is_rounded(operand, dtype, read_dtype);
        int status = lw_convert_operand(operand, read_dtype);
        operand->rounding = (int8_t)(is_rounded ? dtype : -1);
        return status;
    }
    if (lw_convert_operand(operand, dtype) < 0) {
        return -1;
    }
    operand->weakness = (uint8_t)lw_decode(dtype, operand->data, &operand->scalar);
    return lw_convert_operand(operand, read_dtype);
}

void lw_explain_range(int dtype, PyObject *value) {
    if (lw_item_size(dtype) < 8 && PyErr_ExceptionMatches(lw_error_class(LW_RANGE_ERROR))) {
        PyErr_Clear();
        lw_raise(LW_RANGE_ERROR,
                 "expected a number within %s, the tensor's dtype, got %S; use astype(x, lw.int64) first",
                 lw_dtype_name(dtype), lw_describe(value));
    }
}

int lw_overlaps(const lw_tensor *written, const lw_operand *operand) {
    if (!operand->data || operand->weakness != LW_STRONG || operand->owned || operand->is_copied ||
        operand->size == 0 || written->size == 0) {
        return 0;
    }
    const lw_storage *storage = operand->tensor ? operand->tensor->storage : NULL;
    int has_address = !storage || (!storage->device && !lw_is_pending(storage)); /* which tells storages apart */
    if (storage != written->storage && (!has_address || lw_is_pending(written->storage))) {
        return 0;
    }
    const char *low, *high, *written_low, *written_high;
    lw_memory_range(operand->data, operand->ndim, operand->shape, operand->strides, lw_item_size(operand->dtype), &low,
                    &high);
    lw_memory_range(written->data, written->ndim, written->shape, written->strides, lw_item_size(written->dtype),
                    &written_low, &written_high);
    return low < written_high && written_low < high;
}
