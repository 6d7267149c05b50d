/* The Tensor object and its storage. */
#pragma once

#include "lanewise.h"
#include "pyabi.h"
#include "visibility.h"

/* Backends, highest priority first; backends.c has their names. */
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

/* A block of memory that one tensor uses or several share. The GIL guards the reference count. */
typedef struct lw_storage lw_storage;
struct lw_storage {
    Py_ssize_t references;
    char *data; /* address in CPU memory; NULL if `owner` is a buffer of a GPU */
    size_t bytes;
    int read_only;
    int size_class;                       /* size class in the cache of storage.c, or -1 for borrowed memory */
    void (*release)(lw_storage *storage); /* returns borrowed memory to its owner */
    void *owner; /* the object that `release` releases; in a list of the cache, the next block */
};

/* Returns a storage of at least `bytes`, 64-byte aligned, from the cache if possible. Returns NULL with
 * OutOfMemoryError set if memory runs out. */
lw_storage *lw_storage_new(int64_t bytes);
lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *));
void lw_storage_release(lw_storage *storage);

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

static inline int64_t lw_item_size(int dtype) {
    static const int8_t sizes[LW_DTYPE_COUNT] = {1, 4, 8, 2, 4, 8};
    return sizes[dtype];
}
const char *lw_dtype_name(int dtype);

/* Returns a row-major tensor with uninitialized elements. If the shape overflows or memory runs out, returns NULL
 * with an error set. */
lw_tensor *lw_tensor_new(int dtype, int ndim, const int64_t *shape, int backend, int committed);
/* Returns a tensor that shares the storage of `base`, and adds a reference to that storage. */
lw_tensor *lw_tensor_view(lw_tensor *base, char *data, int ndim, const int64_t *shape, const int64_t *strides);
/* Returns a tensor on `storage`. Takes over the caller's reference to the storage, even on failure. */
lw_tensor *lw_tensor_from_storage(lw_storage *storage, char *data, int dtype, int ndim, const int64_t *shape,
                                  const int64_t *strides, int backend, int committed);

/* Fills in the row-major strides of a shape. Returns the size of all elements in bytes, or -1 if an extent is negative
 * or the size overflows. */
int64_t lw_row_major(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
int lw_is_row_major(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size);

PyObject *lw_int_tuple(int count, const int64_t *values);

int lw_tensor_setup(PyObject *module); /* creates the type */
