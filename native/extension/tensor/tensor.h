/* The Tensor object and its storage. */
#pragma once

#include "memory/strides.h"
#include "python/backends.h"
#include "tensor/dtype.h"
#include "tensor/storage.h"

typedef struct lw_tensor {
    PyObject_HEAD lw_storage *storage;
    char *data; /* the address of the first element, within the storage */
    int64_t size;
    int8_t dtype;
    int8_t ndim;
    int8_t backend;
    uint8_t committed;  /* whether the user chose the backend */
    uint8_t contiguous; /* whether the elements are in row-major order without gaps */
    uint8_t read_only;  /* whether writes are refused: borrowed read-only memory, broadcast_to, or a view of either */
    PyObject *weak_references;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_NDIM]; /* in bytes */
} lw_tensor;

LW_HIDDEN PyTypeObject *lw_tensor_type;
static inline int lw_is_tensor(PyObject *object) { return Py_TYPE(object) == lw_tensor_type; }

/* Returns a row-major tensor with uninitialized elements. If the shape overflows or memory runs out, returns NULL
 * with an error set. */
lw_tensor *lw_tensor_new(int dtype, int ndim, const int64_t *shape, lw_placement placement);
/* Does the same for a shape whose strides and size in bytes lw_row_major() has computed. */
lw_tensor *lw_tensor_new_row_major(int dtype, int ndim, const int64_t *shape, const int64_t *strides, int64_t bytes,
                                   lw_placement placement);
/* Returns a tensor that shares the storage of `base`, and adds a reference to that storage. */
lw_tensor *lw_tensor_view(lw_tensor *base, char *data, int ndim, const int64_t *shape, const int64_t *strides);
/* Returns a tensor on `storage`. Takes over the caller's reference to the storage, even on failure. */
lw_tensor *lw_tensor_from_storage(lw_storage *storage, char *data, int dtype, int ndim, const int64_t *shape,
                                  const int64_t *strides, lw_placement placement);

/* Returns 1, with ReadOnlyError set, if the tensor is read-only. */
int lw_refuse_writing(const lw_tensor *tensor);

void lw_refuse_size(int dtype, int ndim, const int64_t *shape); /* raises the error for a size that overflows */
/* Does what lw_row_major() does, for elements of a dtype. Sets ShapeError on failure. */
static inline int64_t lw_checked_row_major(int dtype, int ndim, const int64_t *shape, int64_t *strides) {
    int64_t bytes = lw_row_major(ndim, shape, lw_item_size(dtype), strides);
    if (bytes < 0) {
        lw_refuse_size(dtype, ndim, shape);
    }
    return bytes;
}
