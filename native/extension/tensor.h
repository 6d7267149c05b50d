/* The Tensor object and its storage. */
#pragma once

#include "lanewise.h"
#include "pyabi.h"
#include "visibility.h"

/* Backends in the order of their priority; names in backends.c. */
typedef enum lw_backend {
    LW_BACKEND_CUDA,
    LW_BACKEND_WGPU,
    LW_BACKEND_AVX512,
    LW_BACKEND_AVX2,
    LW_BACKEND_AVX,
    LW_BACKEND_SSE2,
    LW_BACKEND_NEON,
    LW_BACKEND_RELAXED_SIMD,
    LW_BACKEND_SIMD128,
    LW_BACKEND_SCALAR,
    LW_BACKEND_COUNT
} lw_backend;

static inline int lw_is_host(int backend) { return backend >= LW_BACKEND_AVX512; }

/* Memory that tensors share. The count is guarded by the GIL. */
typedef struct lw_storage lw_storage;
struct lw_storage {
    Py_ssize_t references;
    char *data; /* host address; NULL where `owner` is a device's buffer */
    size_t bytes;
    int read_only;
    int size_class;                       /* of the pool, or -1 where the memory is somebody else's */
    void (*release)(lw_storage *storage); /* of somebody else's memory */
    void *owner;                          /* what `release` lets go */
};

/* A new storage of at least `bytes`, 64-byte aligned, from the pool; NULL with OutOfMemoryError set. */
lw_storage *lw_storage_new(const char *operation, int64_t bytes);
lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *));
void lw_storage_release(lw_storage *storage);

typedef struct lw_tensor {
    PyObject_HEAD lw_storage *storage;
    char *data; /* the first element: storage->data and an offset */
    int64_t size;
    int8_t dtype;
    int8_t ndim;
    int8_t backend;
    uint8_t committed;  /* the user placed it on its backend */
    uint8_t contiguous; /* row-major without gaps */
    uint8_t read_only;  /* borrowed memory that may not be written, or broadcast */
    PyObject *weak_references;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_NDIM]; /* in bytes */
} lw_tensor;

LW_HIDDEN PyTypeObject *lw_tensor_type;
static inline int lw_is_tensor(PyObject *object) { return Py_TYPE(object) == lw_tensor_type; }

static inline int64_t lw_item_size(int dtype) {
    static const int8_t sizes[LW_DTYPE_COUNT] = {1, 4, 8, 2, 4, 8};
    return sizes[dtype];
}
const char *lw_dtype_name(int dtype);

/* An empty row-major tensor; its elements are whatever the memory held. `operation` names the caller in errors:
 * a shape whose size overflows, too many dimensions, no memory. */
lw_tensor *lw_tensor_new(const char *operation, int dtype, int ndim, const int64_t *shape, int backend, int committed);
/* Another tensor on the same storage; takes over nothing. Sets size and contiguous from shape and strides. */
lw_tensor *lw_tensor_view(lw_tensor *base, char *data, int ndim, const int64_t *shape, const int64_t *strides);
/* A tensor over `storage`, whose reference it takes over, also when it fails. */
lw_tensor *lw_tensor_from_storage(lw_storage *storage, char *data, int dtype, int ndim, const int64_t *shape,
                                  const int64_t *strides, int backend, int committed);

/* Row-major strides of a shape; returns the number of bytes, or -1 where it overflows. */
int64_t lw_row_major(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
int lw_is_row_major(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size);

PyObject *lw_int_tuple(int count, const int64_t *values);

int lw_tensor_setup(PyObject *module); /* makes the type */
