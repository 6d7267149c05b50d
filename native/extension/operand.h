/* Operands: the array arguments of one call, as the extension reads them. */
#pragma once

#include "operation.h"
#include "tensor.h"

/* Whether an operand is weak, as Python numbers are, and if so, which kind of number it is. Strong operands, such as
 * tensors, decide the dtype, unless a weak one is of a higher kind (bool < int < float): see lw_computed_dtype().
 * LW_WEAK_BIG_INT is an int beyond 64 bits: it is stored as the nearest double, and converting it to an integer dtype
 * is an error. */
typedef enum lw_weakness { LW_STRONG, LW_WEAK_BOOL, LW_WEAK_INT, LW_WEAK_BIG_INT, LW_WEAK_FLOAT } lw_weakness;

typedef struct lw_operand {
    const char *data;
    const int64_t *shape;
    const int64_t *strides; /* in bytes */
    lw_tensor *tensor;      /* borrowed; NULL if the argument is not a tensor */
    PyObject *owned;        /* a reference to release, such as the tensor of a cast */
    int8_t dtype;           /* valid for a strong operand only */
    int8_t ndim;
    uint8_t weakness; /* an lw_weakness */
    uint8_t has_view; /* `view` holds a buffer, which must be released */
    uint8_t contiguous;
    lw_scalar scalar; /* the number in a weak operand; after lw_cast_operand(), the encoded element */
    int64_t local_shape[LW_MAX_NDIM];
    int64_t local_strides[LW_MAX_NDIM];
    Py_buffer view;
} lw_operand;

typedef enum lw_outcome {
    LW_DONE,
    LW_FAILED,      /* an error is set */
    LW_NEEDS_PYTHON /* only Python code can read an argument, such as a list, so it has to take over the call */
} lw_outcome;

/* Returns LW_DONE for a CPU backend, else LW_FAILED: in this version, tensors cannot live on a GPU. */
lw_outcome lw_require_host(int backend);

/* Fills `operand` from a tensor, a Python number or an object with the buffer protocol. */
lw_outcome lw_read_operand(PyObject *object, lw_operand *operand);
/* Fills `operand` from an object with the buffer protocol. Lanewise has no dtype uint8: the elements of a uint8
 * buffer are copied to a new tensor of dtype `uint8_as` (int32 or float32), which the operand owns. */
lw_outcome lw_read_buffer(PyObject *object, int uint8_as, lw_operand *operand);
/* Fills `operand` from a Python bool, int or float. */
void lw_operand_from_number(PyObject *number, lw_operand *operand);
/* Fills `operand` from a tensor. */
static inline void lw_operand_from_tensor(lw_tensor *tensor, lw_operand *operand) {
    operand->data = tensor->data;
    operand->shape = tensor->shape;
    operand->strides = tensor->strides;
    operand->tensor = tensor;
    operand->owned = NULL;
    operand->dtype = tensor->dtype;
    operand->ndim = tensor->ndim;
    operand->weakness = LW_STRONG;
    operand->has_view = 0;
    operand->contiguous = tensor->contiguous;
}
/* Sets `part` to the first `ndim` dimensions of an operand, for broadcasting batch dimensions. */
void lw_leading_dimensions(const lw_operand *operand, int ndim, lw_operand *part);
void lw_release_operand(lw_operand *operand);

/* Returns whether the operand is a NumPy scalar such as np.int64(1), or a 0-dimensional array of another library. */
static inline int lw_is_numpy_scalar(const lw_operand *operand) { return operand->has_view && operand->ndim == 0; }
/* Turns an operand for which lw_is_numpy_scalar() is true into a weak one: a Python number of the same value. Returns
 * -1 with an error set on failure. */
int lw_weaken_operand(lw_operand *operand);

static inline void lw_release_operands(lw_operand *operands, int count) {
    for (int i = 0; i < count; i++) {
        if (operands[i].has_view || operands[i].owned) {
            lw_release_operand(&operands[i]);
        }
    }
}

/* Returns whether the operand is a weak int that fits into int32. */
static inline int lw_fits_int32(const lw_operand *operand) {
    return operand->weakness == LW_WEAK_INT && operand->scalar.i == (int32_t)operand->scalar.i;
}

/* Returns the dtype to which two dtypes promote: the later one in the order bool, int32, int64, float16, float32,
 * float64. */
static inline int lw_promote(int a, int b) { return a > b ? a : b; }

/* Returns the dtype to which the operands, strong or weak, promote. Ignores inputs whose dtype the contract fixes. */
int lw_computed_dtype(const lw_operation *operation, const lw_operand *operands, int count);

/* Returns the dtype of the kernel for operands that promote to `computed`: the first dtype with a kernel among
 * `computed` itself and its substitutes, which are int32 and float32 for bool, and float32 for int32. Returns
 * -1 with DTypeError set if none of these has a kernel. `variant` selects a row of operation->kernels. */
int lw_kernel_dtype(const lw_operation *operation, int variant, int computed, const lw_operand *operands, int count);

/* Converts an operand to the kernel's dtype: encodes a weak number, casts an array into a temporary. */
int lw_cast_operand(lw_operand *operand, int dtype);

/* Reads a Python bool, int or float into `value`, and returns which of these it was. */
lw_weakness lw_parse_number(PyObject *object, lw_scalar *value);

/* Writes a number to `destination` as one element of `dtype`. Returns -1 with an error set if the number does not
 * fit. */
int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination);
