/* The type Tensor: its attributes, methods and slots. */
#include "plan/operation.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/python.h"
#include "tensor/tensor.h"
#include <stdlib.h>

static void tensor_dealloc(PyObject *self) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    lw_storage_release(tensor->storage);
    PyObject_Free(self);
    Py_DECREF((PyObject *)lw_tensor_type);
}

static PyObject *get_shape(PyObject *self, void *closure) {
    return lw_int_tuple(((lw_tensor *)self)->ndim, ((lw_tensor *)self)->shape);
}

static PyObject *get_strides(PyObject *self, void *closure) {
    return lw_int_tuple(((lw_tensor *)self)->ndim, ((lw_tensor *)self)->strides);
}

static PyObject *get_item_size(PyObject *self, void *closure) {
    return PyLong_FromLongLong(lw_item_size(((lw_tensor *)self)->dtype));
}

static PyObject *get_bytes(PyObject *self, void *closure) {
    lw_tensor *tensor = (lw_tensor *)self;
    return PyLong_FromLongLong(tensor->size * lw_item_size(tensor->dtype));
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    return Py_NewRef(lw_dtype_object(((lw_tensor *)self)->dtype));
}

static PyObject *get_backend_name(PyObject *self, void *closure) {
    return PyUnicode_FromString(lw_backend_name(((lw_tensor *)self)->backend));
}

static PyObject *get_transpose(PyObject *self, void *closure) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim != 2) {
        return lw_named("T", lw_raise(LW_SHAPE_ERROR,
                                      "expected 2 dimensions, got %d; use mT to swap the last two, or permute_dims",
                                      tensor->ndim));
    }
    int64_t shape[2] = {tensor->shape[1], tensor->shape[0]};
    int64_t strides[2] = {tensor->strides[1], tensor->strides[0]};
    return (PyObject *)lw_tensor_view(tensor, tensor->data, 2, shape, strides);
}

static PyObject *get_matrix_transpose(PyObject *self, void *closure) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->ndim < 2) {
        return lw_named("mT", lw_raise(LW_SHAPE_ERROR, "expected at least 2 dimensions, got %d", tensor->ndim));
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
    {"itemsize", get_item_size, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_bytes, NULL, "Bytes of all elements.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"_backend_name", get_backend_name, NULL, NULL, NULL},
    {"T", get_transpose, NULL, "A view of the transpose of a matrix.", NULL},
    {"mT", get_matrix_transpose, NULL, "A view with the last two dimensions swapped.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(lw_tensor, weak_references), READONLY, NULL},
    {"ndim", T_BYTE, offsetof(lw_tensor, ndim), READONLY, "The number of dimensions."},
    {"size", T_LONGLONG, offsetof(lw_tensor, size), READONLY, "The number of elements."},
    {"readonly", T_BOOL, offsetof(lw_tensor, read_only), READONLY, "Whether the memory may not be written."},
    {"is_contiguous", T_BOOL, offsetof(lw_tensor, contiguous), READONLY,
     "Whether the elements are stored in row-major order without gaps."},
    {"is_committed", T_BOOL, offsetof(lw_tensor, committed), READONLY,
     "Whether the user placed the tensor on its backend."},
    {NULL, 0, 0, 0, NULL},
};

/* Concatenates the method tables of operations (generated) and of other files, because a type takes only one table.
 * Called once. */
static PyMethodDef *join_methods(void) {
    PyMethodDef *const tables[] = {lw_operation_methods, lw_exchange_methods};
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
    return joined ? joined : (void *)PyErr_NoMemory();
}

static PyObject *refuse_construction(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    return lw_named("Tensor",
                    lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected a call of a function that creates tensors, got a call "
                                                     "of the class; use asarray([1, 2]) or zeros((2, 3))"));
}

int lw_type_setup(PyObject *module) {
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
