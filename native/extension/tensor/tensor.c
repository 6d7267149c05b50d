/* Creates tensors and views. */
#include "tensor/tensor.h"
#include "python/errors.h"
#include <stdlib.h>

PyTypeObject *lw_tensor_type;

static lw_tensor *allocate_tensor(void) {
    PyObject *object = PyObject_Malloc(sizeof(lw_tensor));
    if (!object) {
        return (void *)PyErr_NoMemory();
    }
    lw_tensor *tensor = (lw_tensor *)PyObject_Init(object, lw_tensor_type);
    tensor->weak_references = NULL;
    return tensor;
}

__attribute__((noinline)) void lw_refuse_size(int dtype, int ndim, const int64_t *shape) {
    lw_raise(LW_SHAPE_ERROR, "expected a %s array of fewer than 2^63 bytes, got shape %s; use a smaller shape",
             lw_dtype_name(dtype), lw_shape_text(ndim, shape));
}

lw_tensor *lw_tensor_new(int dtype, int ndim, const int64_t *shape, lw_placement placement) {
    int64_t strides[LW_MAX_NDIM];
    int64_t bytes = lw_checked_row_major(dtype, ndim, shape, strides);
    return bytes < 0 ? NULL : lw_tensor_new_row_major(dtype, ndim, shape, strides, bytes, placement);
}

lw_tensor *lw_tensor_new_row_major(int dtype, int ndim, const int64_t *shape, const int64_t *strides, int64_t bytes,
                                   lw_placement placement) {
    lw_storage *storage = lw_storage_new(bytes, lw_devices[placement.backend]);
    if (!storage) {
        return NULL;
    }
    lw_tensor *tensor = allocate_tensor();
    if (!tensor) {
        lw_storage_release(storage);
        return NULL;
    }
    tensor->storage = storage;
    tensor->data = storage->data;
    tensor->size = lw_items(dtype, bytes);
    tensor->dtype = (int8_t)dtype;
    tensor->ndim = (int8_t)ndim;
    tensor->backend = (int8_t)placement.backend;
    tensor->committed = (uint8_t)placement.committed;
    tensor->contiguous = 1;
    tensor->read_only = 0;
    for (int i = 0; i < ndim; i++) {
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i];
    }
    return tensor;
}

lw_tensor *lw_tensor_from_storage(lw_storage *storage, char *data, int dtype, int ndim, const int64_t *shape,
                                  const int64_t *strides, lw_placement placement) {
    lw_tensor *tensor = allocate_tensor();
    if (!tensor) {
        lw_storage_release(storage);
        return NULL;
    }
    tensor->storage = storage;
    tensor->data = data;
    tensor->dtype = (int8_t)dtype;
    tensor->ndim = (int8_t)ndim;
    tensor->backend = (int8_t)placement.backend;
    tensor->committed = (uint8_t)placement.committed;
    tensor->read_only = (uint8_t)storage->read_only;
    tensor->size = 1;
    for (int i = 0; i < ndim; i++) {
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i];
        tensor->size *= shape[i];
    }
    tensor->contiguous = (uint8_t)lw_is_row_major(ndim, shape, strides, lw_item_size(dtype));
    return tensor;
}

lw_tensor *lw_tensor_view(lw_tensor *base, char *data, int ndim, const int64_t *shape, const int64_t *strides) {
    ptrdiff_t offset = data - base->data;
    if (lw_settle(base->storage) < 0) {
        return NULL;
    }
    data = base->data + offset; /* the base may just have got its memory */
    base->storage->references++;
    lw_placement placement = {base->backend, base->committed};
    lw_tensor *view = lw_tensor_from_storage(base->storage, data, base->dtype, ndim, shape, strides, placement);
    if (view) {
        view->read_only = base->read_only;
    }
    return view;
}

int lw_refuse_writing(const lw_tensor *tensor) {
    if (tensor->read_only) {
        lw_raise(LW_READ_ONLY_ERROR, "expected a writable tensor, got a read-only one; write to a copy of it");
    }
    return tensor->read_only;
}
