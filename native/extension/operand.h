/* Operands: what the extension makes of a Python argument for the length of one call. */
#pragma once

#include "operation.h"
#include "tensor.h"

/* What kind of Python number a weak operand is. An int beyond 64 bits is the float nearest to it, and no integer dtype
 * takes it. */
typedef enum lw_weakness { LW_STRONG, LW_WEAK_BOOL, LW_WEAK_INT, LW_WEAK_BIG_INT, LW_WEAK_FLOAT } lw_weakness;

typedef struct lw_operand {
    const char *data;
    const int64_t *shape;
    const int64_t *strides; /* in bytes */
    lw_tensor *tensor;      /* borrowed; NULL where the argument is none */
    PyObject *owned;        /* a reference to drop: the tensor of a cast */
    int8_t dtype;           /* of a strong operand */
    int8_t ndim;
    uint8_t weakness; /* a Python scalar takes the dtype of what it meets */
    uint8_t has_view;
    uint8_t contiguous;
    lw_scalar scalar; /* the value of a weak operand, then in the dtype it was given */
    int64_t local_shape[LW_MAX_NDIM];
    int64_t local_strides[LW_MAX_NDIM];
    Py_buffer view;
} lw_operand;

typedef enum lw_outcome {
    LW_DONE,
    LW_FAILED,      /* an error is set */
    LW_NEEDS_PYTHON /* a list, a DLPack object, ...: lanewise/dispatch.py converts it */
} lw_outcome;

/* Fills `operand` from a tensor, a Python scalar or an object with the buffer protocol. */
lw_outcome lw_read_operand(const char *operation, PyObject *object, lw_operand *operand);
/* The same from an object with the buffer protocol. Elements of uint8, which is not a dtype here, are converted into a
 * new tensor of `uint8_as`, int32 or float32, that the operand owns. */
lw_outcome lw_read_buffer(const char *operation, PyObject *object, int uint8_as, lw_operand *operand);
/* The same from a tensor alone. */
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
/* The first `ndim` dimensions of an operand, for broadcasting a batch. */
void lw_leading_dimensions(const lw_operand *operand, int ndim, lw_operand *part);
void lw_release_operand(lw_operand *operand);

/* Whether it is a number of NumPy's: a scalar such as np.int64(1), or an array without dimensions. */
static inline int lw_is_numpy_scalar(const lw_operand *operand) { return operand->has_view && operand->ndim == 0; }
/* Makes such a number Python's; -1 with an error set. */
int lw_weaken_operand(lw_operand *operand);

static inline void lw_release_operands(lw_operand *operands, int count) {
    for (int i = 0; i < count; i++) {
        if (operands[i].has_view || operands[i].owned) {
            lw_release_operand(&operands[i]);
        }
    }
}

/* Whether a weak int is one of int32's. */
static inline int lw_fits_int32(const lw_operand *operand) {
    return operand->weakness == LW_WEAK_INT && operand->scalar.i == (int32_t)operand->scalar.i;
}

/* The dtype in which two meet: bool < int32 < int64 < float16 < float32 < float64. */
static inline int lw_promote(int a, int b) { return a > b ? a : b; }

/* The dtype that strong operands and weak scalars compute in; inputs of a fixed dtype take no part. */
int lw_computed_dtype(const lw_operation *operation, const lw_operand *operands, int count);

/* The dtype of the kernel to use for a computed dtype: itself, or the next of bool, int32, float32 that has one.
 * -1 with DTypeError set where there is none. `variant` selects a row of operation->kernels. */
int lw_kernel_dtype(const lw_operation *operation, int variant, int computed);

/* Gives an operand the dtype a kernel wants: a scalar is encoded, another dtype is cast into a temporary. */
int lw_cast_operand(const char *operation, lw_operand *operand, int dtype);

/* A Python bool, int or float. */
lw_weakness lw_parse_number(PyObject *object, lw_scalar *value);

/* Encodes a number; -1 with an error set where an int does not fit. `destination` holds an item of the dtype. */
int lw_encode(const char *operation, lw_weakness weakness, lw_scalar value, int dtype, void *destination);
