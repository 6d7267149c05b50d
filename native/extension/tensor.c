/* The Tensor type: creating tensors and views, and their attributes. */
#include "tensor.h"
#include "errors.h"
#include "module.h"
#include "operation.h"
#include <stdlib.h>

PyTypeObject *lw_tensor_type;

const char *lw_dtype_name(int dtype) {
    static const char *const names[LW_DTYPE_COUNT] = {"bool", "int32", "int64", "float16", "float32", "float64"};
    return names[dtype];
}

int64_t lw_row_major(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides) {
    int64_t bytes = item_size;
    int empty = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = bytes;
        if (shape[i] == 0) {
            empty = 1; /* no early return: as in NumPy, the product of the other extents must not overflow */
        } else if (shape[i] < 0 || __builtin_mul_overflow(bytes, shape[i], &bytes)) {
            return -1;
        }
    }
    return empty ? 0 : bytes;
}

int lw_is_row_major(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size) {
    int64_t expected = item_size;
    int regular = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 0) {
            return 1;
        }
        if (shape[i] != 1) {
            regular &= strides[i] == expected;
            expected *= shape[i];
        }
    }
    return regular;
}

static lw_tensor *allocate_tensor(void) {
    PyObject *object = PyObject_Malloc(sizeof(lw_tensor));
    if (!object) {
        PyErr_NoMemory();
        return NULL;
    }
    lw_tensor *tensor = (lw_tensor *)PyObject_Init(object, lw_tensor_type);
    tensor->weak_references = NULL;
    return tensor;
}

lw_tensor *lw_tensor_new(int dtype, int ndim, const int64_t *shape, int backend, int committed) {
    int64_t strides[LW_MAX_NDIM];
    int64_t item_size = lw_item_size(dtype);
    int64_t bytes = lw_row_major(ndim, shape, item_size, strides);
    if (bytes < 0) {
        char text[LW_SHAPE_TEXT];
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                     "expected a %s array of fewer than 2^63 bytes, got shape %s; use a smaller shape",
                     lw_dtype_name(dtype), lw_shape_text(text, ndim, shape));
        return NULL;
    }
    lw_storage *storage = lw_storage_new(bytes);
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
    tensor->size = bytes / item_size;
    tensor->dtype = (int8_t)dtype;
    tensor->ndim = (int8_t)ndim;
    tensor->backend = (int8_t)backend;
    tensor->committed = (uint8_t)committed;
    tensor->contiguous = 1;
    tensor->read_only = 0;
    for (int i = 0; i < ndim; i++) {
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i];
    }
    return tensor;
}

lw_tensor *lw_tensor_from_storage(lw_storage *storage, char *data, int dtype, int ndim, const int64_t *shape,
                                  const int64_t *strides, int backend, int committed) {
    lw_tensor *tensor = allocate_tensor();
    if (!tensor) {
        lw_storage_release(storage);
        return NULL;
    }
    tensor->storage = storage;
    tensor->data = data;
    tensor->dtype = (int8_t)dtype;
    tensor->ndim = (int8_t)ndim;
    tensor->backend = (int8_t)backend;
    tensor->committed = (uint8_t)committed;
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
    base->storage->references++;
    lw_tensor *view =
        lw_tensor_from_storage(base->storage, data, base->dtype, ndim, shape, strides, base->backend, base->committed);
    if (view) {
        view->read_only = base->read_only;
    }
    return view;
}

static void tensor_dealloc(PyObject *self) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    lw_storage_release(tensor->storage);
    PyObject_Free(self);
    Py_DECREF((PyObject *)lw_tensor_type);
}

PyObject *lw_int_tuple(int count, const int64_t *values) {
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *closure) {
    (void)closure;
    return lw_int_tuple(((lw_tensor *)self)->ndim, ((lw_tensor *)self)->shape);
}

static PyObject *get_strides(PyObject *self, void *closure) {
    (void)closure;
    return lw_int_tuple(((lw_tensor *)self)->ndim, ((lw_tensor *)self)->strides);
}

static PyObject *get_ndim(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(((lw_tensor *)self)->ndim);
}

static PyObject *get_size(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(((lw_tensor *)self)->size);
}

static PyObject *get_item_size(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(lw_item_size(((lw_tensor *)self)->dtype));
}

static PyObject *get_bytes(PyObject *self, void *closure) {
    (void)closure;
    lw_tensor *tensor = (lw_tensor *)self;
    return PyLong_FromLongLong(tensor->size * lw_item_size(tensor->dtype));
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    (void)closure;
    PyObject *dtype = lw_dtype_object(((lw_tensor *)self)->dtype);
    Py_INCREF(dtype);
    return dtype;
}

static PyObject *get_read_only(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((lw_tensor *)self)->read_only);
}

static PyObject *get_contiguous(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((lw_tensor *)self)->contiguous);
}

static PyObject *get_committed(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((lw_tensor *)self)->committed);
}

static PyObject *get_backend_name(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(lw_backend_name(((lw_tensor *)self)->backend));
}

static PyObject *get_transpose(PyObject *self, void *closure) {
    (void)closure;
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim != 2) {
        return lw_named("T", PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                                          "expected 2 dimensions, got %d; use mT to swap the last two, or permute_dims",
                                          tensor->ndim));
    }
    int64_t shape[2] = {tensor->shape[1], tensor->shape[0]};
    int64_t strides[2] = {tensor->strides[1], tensor->strides[0]};
    return (PyObject *)lw_tensor_view(tensor, tensor->data, 2, shape, strides);
}

static PyObject *get_matrix_transpose(PyObject *self, void *closure) {
    (void)closure;
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim < 2) {
        return lw_named(
            "mT", PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected at least 2 dimensions, got %d", tensor->ndim));
    }
    lw_tensor *view = lw_tensor_view(tensor, tensor->data, tensor->ndim, tensor->shape, tensor->strides);
    if (view) {
        int last = view->ndim - 1;
        view->shape[last] = tensor->shape[last - 1];
        view->shape[last - 1] = tensor->shape[last];
        view->strides[last] = tensor->strides[last - 1];
        view->strides[last - 1] = tensor->strides[last];
        view->contiguous = (uint8_t)lw_is_row_major(view->ndim, view->shape, view->strides, lw_item_size(view->dtype));
    }
    return (PyObject *)view;
}

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "The extent of each dimension.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next along each dimension.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"itemsize", get_item_size, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_bytes, NULL, "Bytes of all elements.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"readonly", get_read_only, NULL, "Whether the memory may not be written.", NULL},
    {"is_contiguous", get_contiguous, NULL, "Whether the elements are stored in row-major order without gaps.", NULL},
    {"is_committed", get_committed, NULL, "Whether the user placed the tensor on its backend.", NULL},
    {"_backend_name", get_backend_name, NULL, NULL, NULL},
    {"T", get_transpose, NULL, "A view of the transpose of a matrix.", NULL},
    {"mT", get_matrix_transpose, NULL, "A view with the last two dimensions swapped.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(lw_tensor, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* Concatenates the method tables of operations (generated) and of other files, because a type takes only one table.
 * Called once. */
static PyMethodDef *join_methods(void) {
    PyMethodDef *const tables[] = {lw_operation_methods, lw_exchange_methods, lw_backend_methods};
    size_t count = 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const PyMethodDef *method = tables[i]; method->ml_name; method++) {
            count++;
        }
    }
    PyMethodDef *joined = calloc(count, sizeof *joined);
    PyMethodDef *next = joined;
    for (size_t i = 0; joined && i < sizeof tables / sizeof *tables; i++) {
        for (const PyMethodDef *method = tables[i]; method->ml_name; method++) {
            *next++ = *method;
        }
    }
    if (!joined) {
        PyErr_NoMemory();
    }
    return joined;
}

static PyObject *refuse_construction(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)type, (void)arguments, (void)keywords;
    return lw_named(
        "Tensor",
        PyErr_Format(lw_error_class(LW_ARGUMENT_TYPE_ERROR),
                     "expected a call of a function that creates tensors, got a call of the class; use asarray([1, 2]) "
                     "or zeros((2, 3))"));
}

int lw_tensor_setup(PyObject *module) {
    PyMethodDef *methods = join_methods();
    if (!methods) {
        return -1;
    }
    PyType_Slot slots[96] = {
        {Py_tp_doc,
         "An array of one dtype on one backend. Create one with asarray, zeros, ones, full, arange or rand."},
        {Py_tp_dealloc, (void *)tensor_dealloc},
        {Py_tp_getset, attributes},
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {Py_tp_hash, (void *)PyObject_HashNotImplemented},
        {Py_tp_new, (void *)refuse_construction},
    };
    int count = 7;
    count += lw_operator_slots(slots + count);
    count += lw_index_slots(slots + count);
    count += lw_exchange_slots(slots + count);
    slots[count] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {
        .name = "lanewise.Tensor",
        .basicsize = sizeof(lw_tensor),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    lw_tensor_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return lw_tensor_type ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)lw_tensor_type) : -1;
}
