/* Operands: the array arguments of one call, as the extension reads them. */
#pragma once

#include "plan/operation.h"
#include "tensor/number.h"
#include "tensor/tensor.h"

/* How the elements of an operand are stored before lw_execute() copies them. */
typedef struct lw_source {
    const int64_t *shape;
    const int64_t *strides; /* in bytes */
    int8_t dtype;
    int8_t ndim;
    uint8_t contiguous;
} lw_source;

typedef struct lw_operand {
    const char *data; /* NULL if the input is absent */
    const int64_t *shape;
    const int64_t *strides; /* in bytes */
    int64_t size;
    lw_tensor *tensor; /* borrowed; NULL if the argument is not a tensor */
    PyObject *owned;   /* a reference to release, such as the tensor of a copy */
    int8_t dtype;      /* of a weak operand: the default for numbers of its kind */
    int8_t ndim;
    uint8_t weakness; /* an lw_weakness */
    uint8_t has_view; /* `view` holds a buffer, which must be released */
    uint8_t contiguous;
    uint8_t is_copied; /* lw_execute() first makes a row-major copy of this dtype; `source` is what it copies */
    int8_t rounding;   /* if copied: the narrow float dtype to which integers are rounded first, or -1 */
    lw_scalar scalar;  /* the number in a weak operand; after lw_convert_operand(), the encoded element */
    lw_source source;
    int64_t local_shape[LW_MAX_NDIM];
    int64_t local_strides[LW_MAX_NDIM];
    int64_t copy_strides[LW_MAX_NDIM];
    Py_buffer view;
} lw_operand;

typedef enum lw_outcome {
    LW_FAILED = -1, /* an error is set; lw_refuse() returns it */
    LW_DONE,
    LW_NEEDS_PYTHON /* only Python code can read an argument, such as a list, so it has to take over the call */
} lw_outcome;

/* Fills `operand` from a tensor, a Python number or an object with the buffer protocol. */
lw_outcome lw_read_operand(PyObject *object, lw_operand *operand);
/* Fills `operand` from an object with the buffer protocol. Only Python code can read big-endian elements. */
lw_outcome lw_read_buffer(PyObject *object, lw_operand *operand);
/* Fills `operand` from a Python bool, int or float. */
void lw_operand_from_number(PyObject *number, lw_operand *operand);
void lw_operand_from_scalar(lw_weakness weakness, lw_scalar scalar, lw_operand *operand);
/* Fills `operand` from a tensor. */
static inline void lw_operand_from_tensor(lw_tensor *tensor, lw_operand *operand) {
    operand->data = tensor->data;
    operand->shape = tensor->shape;
    operand->strides = tensor->strides;
    operand->size = tensor->size;
    operand->tensor = tensor;
    operand->owned = NULL;
    operand->dtype = tensor->dtype;
    operand->ndim = tensor->ndim;
    operand->weakness = LW_STRONG;
    operand->has_view = 0;
    operand->contiguous = tensor->contiguous;
    operand->is_copied = 0;
    operand->source.dtype = tensor->dtype;
}
/* Sets `part` to the first `ndim` dimensions of an operand. It owns nothing, and refers to the operand. */
void lw_borrow_operand(const lw_operand *operand, int ndim, lw_operand *part);
/* Sets `stored` to the elements as they are before lw_execute() copies them. It owns nothing. */
void lw_stored_operand(const lw_operand *operand, lw_operand *stored);
void lw_release_operand(lw_operand *operand);
/* Replaces an operand by a tensor, and takes over the caller's reference to it. */
void lw_own_operand(lw_operand *operand, lw_tensor *tensor);

/* Returns whether the operand is a number by value, or an encoded one, in operand->scalar. */
static inline int lw_is_number(const lw_operand *operand) { return operand->data == (const char *)&operand->scalar; }
/* Returns the device on which the elements of an operand are; numbers and buffers are on the host. */
static inline lw_device *lw_device_of(const lw_operand *operand) {
    return operand->tensor ? operand->tensor->storage->device : NULL;
}

/* Returns whether the operand is a NumPy scalar such as np.int64(1), or a 0-dimensional array of another library. */
static inline int lw_is_numpy_scalar(const lw_operand *operand) { return operand->has_view && operand->ndim == 0; }
/* Turns an operand for which lw_is_numpy_scalar() is true into a weak one: a Python number of the same value. */
void lw_weaken_operand(lw_operand *operand);

static inline void lw_release_operands(lw_operand *operands, int count) {
    for (int i = 0; i < count; i++) {
        if (operands[i].has_view || operands[i].owned) {
            lw_release_operand(&operands[i]);
        }
    }
}

/* Returns the dtype to which two dtypes promote, of which `a` may be -1 for none. */
static inline int lw_promote(int a, int b) { return a < 0 ? b : lw_promotions[a][b]; }

/* Returns the dtype to which the operands, strong or weak, promote, or -1 with DTypeError set if there is none. Ignores
 * inputs whose dtype the contract fixes. */
int lw_promoted_dtype(const lw_operation *operation, const lw_operand *operands, int count);

/* Returns the dtype in which to call the operation for operands that promote to `promoted`: the first dtype with a
 * kernel among `promoted` itself and its substitutes, which are int32 and float32 for bool, float64 for integers of 64
 * bits, and float32 for other integers. Returns -1 with DTypeError set if none of these has a kernel. `variant` selects
 * a row of operation->kernels. */
int lw_kernel_dtype(const lw_operation *operation, int variant, int promoted, const lw_operand *operands, int count);

/* Returns the dtype of the elements that the kernel for `dtype` reads: that in which they are computed, unless it only
 * moves them. */
static inline int lw_read_dtype(const lw_operation *operation, int dtype) {
    return operation->moves ? dtype : lw_elements(dtype);
}

/* Converts an operand to `dtype`: encodes a weak number, lets lw_execute() cast an array. */
int lw_convert_operand(lw_operand *operand, int dtype);
/* Returns whether an array is rounded to the narrow float dtype `dtype` before it becomes what the kernel reads. */
static inline int lw_is_rounded(const lw_operand *operand, int dtype, int read_dtype) {
    return dtype != read_dtype && lw_is_floating(dtype) && lw_is_integer(operand->dtype);
}
/* Converts an operand to `dtype`, then to what the kernel reads. */
int lw_promote_operand(lw_operand *operand, int dtype, int read_dtype);
/* After an assignment of `value` to a tensor of a dtype failed: says what to do if it does not hold the number. */
void lw_explain_range(int dtype, PyObject *value);
/* Lets lw_execute() replace a strong operand by a row-major copy. From now on, the operand has the dtype and strides of
 * the copy. */
int lw_copy_operand(lw_operand *operand, int dtype);

/* Takes lw_copy_operand() back: the kernel reads the operand as it is stored. */
void lw_keep_stored(lw_operand *operand);

/* Ends the chain that computes an operand, if it is pending. From then on, its data are where the device has them. */
static inline int lw_settle_operand(lw_operand *operand) {
    lw_storage *storage = operand->tensor ? operand->tensor->storage : NULL;
    if (storage && operand->data == (const char *)storage) { /* it was read while the storage was pending */
        if (lw_settle(storage) < 0) {
            return -1;
        }
        operand->data = storage->data;
    }
    return 0;
}

/* Returns whether the memory ranges of a tensor that is written and of an operand that is read meanwhile intersect. The
 * ranges may intersect even if the two share no element, because a strided operand has gaps between its elements. */
int lw_overlaps(const lw_tensor *written, const lw_operand *operand);
