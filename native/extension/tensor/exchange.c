/* Creates tensors from other objects, and implements the buffer protocol in both directions. */
#include "tensor/exchange.h"
#include "call/execute.h"
#include "device/chain.h"
#include "python/module.h"
#include "python/python.h"
#include <stdlib.h>
#include <string.h>

static void release_view(lw_storage *storage) {
    PyBuffer_Release(storage->owner);
    free(storage->owner);
}

/* Returns a tensor on the memory of a buffer; the buffer stays exported as long as the tensor's storage exists. Returns
 * NULL, without an error set, if only Python code can read it. */
static lw_tensor *tensor_from_buffer(PyObject *object) {
    lw_operand operand = {.has_view = 0, .owned = NULL};
    if (lw_read_buffer(object, &operand) != LW_DONE) {
        lw_release_operand(&operand);
        return NULL;
    }
    Py_buffer *view = malloc(sizeof *view);
    if (!view) {
        PyErr_NoMemory();
        lw_release_operand(&operand);
        return NULL;
    }
    *view = operand.view; /* the storage releases the buffer */
    lw_storage *storage = lw_storage_borrow(view->buf, (size_t)view->len, view->readonly, view, release_view);
    if (!storage) {
        PyBuffer_Release(view);
        free(view);
        return NULL;
    }
    return lw_tensor_from_storage(storage, view->buf, operand.dtype, operand.ndim, operand.local_shape,
                                  operand.local_strides, lw_host_placement());
}

/* Returns whether an object is a number, a list or a tuple. The items of a list or tuple are checked later. */
static int holds_numbers(PyObject *object) {
    return lw_is_list(object) || lw_is_tuple(object) || lw_is_float(object) || lw_is_int(object);
}

/* Like lw_tensor_from_object(), but reads numbers as `dtype` unless it is -1, and keeps what it reads on the host if
 * `stays`. */
static lw_tensor *read_object(PyObject *object, int dtype, int stays) {
    if (lw_is_tensor(object)) {
        return (lw_tensor *)Py_NewRef(object);
    }
    lw_tensor *read = holds_numbers(object)          ? lw_tensor_from_numbers(object, dtype)
                      : PyObject_CheckBuffer(object) ? tensor_from_buffer(object)
                                                     : NULL;
    lw_placement placement = lw_current_placement();
    if (!read || stays || !lw_devices[placement.backend]) {
        return read;
    }
    lw_tensor *moved = lw_copy_tensor(read, read->dtype, placement);
    Py_DECREF((PyObject *)read);
    return moved;
}

lw_tensor *lw_tensor_from_object(PyObject *object) { return read_object(object, -1, 0); }

/* from_object(object, dtype or None, copy or None, stays=False): implements asarray for objects that the extension can
 * read. If `stays`, what it reads stays on the host, even if the current backend is a GPU. Returns NotImplemented for
 * other objects. */
static PyObject *from_object(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3 && count != 4) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (object, dtype, copy, stays)");
    }
    PyObject *object = arguments[0];
    int dtype = arguments[1] == Py_None ? -1 : lw_parse_dtype(arguments[1]);
    if (dtype < 0 && arguments[1] != Py_None) {
        return NULL;
    }
    lw_tensor *tensor = read_object(object, dtype, count == 4 && arguments[3] == Py_True);
    if (!tensor) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    int shares = lw_is_tensor(object) || tensor->storage->size_class < 0;
    int converts = dtype >= 0 && dtype != tensor->dtype;
    if (arguments[2] == Py_False && (converts || !shares)) {
        Py_DECREF((PyObject *)tensor);
        return lw_raise(LW_ARGUMENT_ERROR,
                        "copy=False, but these elements have to be copied or converted; leave out copy");
    }
    if (converts || (arguments[2] == Py_True && shares)) {
        lw_tensor *before = tensor;
        tensor = lw_cast_tensor(before, dtype < 0 ? before->dtype : dtype);
        Py_DECREF((PyObject *)before);
    }
    return (PyObject *)tensor;
}

/* from_bytes(bytes, dtype, shape): returns a tensor with these elements, for unpickling. */
static PyObject *from_bytes(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int64_t shape[LW_MAX_NDIM];
    int dtype = count == 3 ? lw_parse_dtype(arguments[1]) : -1;
    int ndim = dtype < 0 ? -1 : lw_parse_shape("shape", arguments[2], shape);
    Py_buffer view;
    if (ndim < 0 || PyObject_GetBuffer(arguments[0], &view, PyBUF_SIMPLE) < 0) {
        return PyErr_Occurred() ? NULL : lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (bytes, dtype, shape)");
    }
    int valid = 1;
    for (int i = 0; i < ndim; i++) {
        valid &= shape[i] >= 0;
    }
    lw_tensor *tensor = valid ? lw_tensor_new(dtype, ndim, shape, lw_host_placement()) : NULL;
    if (!valid || (tensor && tensor->size * lw_item_size(dtype) != view.len)) {
        lw_raise(LW_ARGUMENT_ERROR,
                 "expected extents of at least 0 and as many bytes as shape and dtype need, got shape %s and %zd bytes",
                 lw_shape_text(ndim, shape), view.len);
        Py_XDECREF((PyObject *)tensor);
        tensor = NULL;
    }
    if (tensor) {
        memcpy(tensor->data, view.buf, (size_t)view.len);
    }
    PyBuffer_Release(&view);
    return (PyObject *)tensor;
}

/* The shape and strides that an exported buffer points to. */
typedef struct buffer_geometry {
    Py_ssize_t shape[LW_MAX_NDIM];
    Py_ssize_t strides[LW_MAX_NDIM];
} buffer_geometry;

static int is_column_major(const lw_tensor *tensor) {
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
    for (int i = 0; i < tensor->ndim; i++) {
        shape[i] = tensor->shape[tensor->ndim - 1 - i];
        strides[i] = tensor->strides[tensor->ndim - 1 - i];
    }
    return lw_is_row_major(tensor->ndim, shape, strides, lw_item_size(tensor->dtype));
}

/* Passes the current error to the hook `unread`, because NumPy ignores it and calls __array__() (methods.py). */
static void keep_error(void) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *kept = lw_call_hook("unread", NULL, error, NULL, NULL);
    if (!kept) {
        PyErr_Clear();
    }
    Py_XDECREF(kept);
    PyErr_Restore(type, error, traceback);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    lw_tensor *tensor = (lw_tensor *)self;
    const char *refusal = NULL;
    view->obj = NULL;
    if (tensor->storage->device) { /* the consumer gets a copy, which must not be written, as no one would see it */
        lw_tensor *host = lw_to_host(tensor);
        if (!host) {
            keep_error();
            return -1;
        }
        host->read_only = 1;
        int status = get_buffer((PyObject *)host, view, flags);
        Py_DECREF((PyObject *)host);
        return status;
    }
    if ((flags & PyBUF_WRITABLE) && tensor->read_only) {
        refusal = "the tensor is read-only; copy it";
    } else if (!lw_dtypes[tensor->dtype].format[0]) {
        refusal = "the protocol has no format for bfloat16; use numpy(), or convert it with astype(lw.float32)";
    } else if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !tensor->contiguous) {
        refusal = "the tensor is not contiguous in row-major order; copy it";
    } else if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_column_major(tensor)) {
        refusal = "the tensor is not contiguous in column-major order; ask for strides";
    } else if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !tensor->contiguous &&
               !is_column_major(tensor)) {
        refusal = "the tensor is not contiguous; copy it";
    } else if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor->contiguous) {
        refusal = "the tensor is not contiguous and the consumer does not accept strides; copy it";
    }
    if (refusal) {
        PyErr_Format(PyExc_BufferError, "buffer: %s", refusal);
        return -1;
    }
    if (lw_share(tensor) < 0) {
        keep_error();
        return -1;
    }
    buffer_geometry *layout = malloc(sizeof *layout);
    if (!layout) {
        return lw_refuse_memory();
    }
    for (int i = 0; i < tensor->ndim; i++) {
        layout->shape[i] = (Py_ssize_t)tensor->shape[i];
        layout->strides[i] = (Py_ssize_t)tensor->strides[i];
    }
    view->buf = tensor->data;
    view->obj = self;
    Py_INCREF(self); /* keeps the storage alive: the buffer may outlive all other references */
    view->itemsize = (Py_ssize_t)lw_item_size(tensor->dtype);
    view->len = (Py_ssize_t)tensor->size * view->itemsize;
    view->readonly = tensor->read_only;
    view->ndim = (flags & PyBUF_ND) ? tensor->ndim : 1;
    view->format = (flags & PyBUF_FORMAT) ? (char *)lw_dtypes[tensor->dtype].format : NULL;
    view->shape = (flags & PyBUF_ND) && tensor->ndim ? layout->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && tensor->ndim ? layout->strides : NULL;
    view->suboffsets = NULL;
    view->internal = layout;
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view) { free(view->internal); }

int lw_exchange_slots(PyType_Slot *slots) {
    slots[0] = (PyType_Slot){Py_bf_getbuffer, (void *)get_buffer};
    slots[1] = (PyType_Slot){Py_bf_releasebuffer, (void *)release_buffer};
    return 2;
}

PyObject *lw_single_item(PyObject *self, const char *advice) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->size != 1) {
        return lw_raise(LW_ARGUMENT_ERROR, "expected a tensor of one element, got shape %s; %s",
                        lw_shape_text(tensor->ndim, tensor->shape), advice);
    }
    return lw_read_item(tensor, tensor->data);
}

static PyObject *list_level(const lw_tensor *tensor, int axis, const char *data) {
    if (axis == tensor->ndim) {
        return lw_item(tensor->dtype, data);
    }
    PyObject *list = PyList_New((Py_ssize_t)tensor->shape[axis]);
    int is_last = axis + 1 == tensor->ndim;
    for (int64_t i = 0; list && i < tensor->shape[axis]; i++) {
        const char *at = data + i * tensor->strides[axis];
        PyObject *item = is_last ? lw_item(tensor->dtype, at) : list_level(tensor, axis + 1, at);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *to_list(PyObject *self, PyObject *unused) {
    lw_tensor *host = lw_to_host((lw_tensor *)self);
    PyObject *list = host ? list_level(host, 0, host->data) : NULL;
    Py_XDECREF((PyObject *)host);
    return lw_named("tolist", list);
}

static PyObject *item(PyObject *self, PyObject *unused) {
    return lw_named("item", lw_single_item(self, "select one with an index"));
}

static PyObject *copy(PyObject *self, PyObject *unused) {
    return lw_named("copy", (PyObject *)lw_copy_row_major((lw_tensor *)self));
}

static PyObject *to_bytes(PyObject *self, PyObject *unused) {
    lw_tensor *host = lw_to_host((lw_tensor *)self);
    PyObject *bytes =
        host ? PyBytes_FromStringAndSize(host->data, (Py_ssize_t)(host->size * lw_item_size(host->dtype))) : NULL;
    Py_XDECREF((PyObject *)host);
    return bytes;
}

LW_NAMED("tobytes", to_bytes)

static PyObject *data_pointer(PyObject *self, PyObject *unused) {
    lw_tensor *tensor = (lw_tensor *)self;
    if (tensor->storage->device) {
        return PyErr_Format(PyExc_AttributeError, "expected a tensor on the CPU; use numpy()");
    }
    return lw_share(tensor) < 0 ? NULL : PyLong_FromVoidPtr(tensor->data);
}

static PyObject *shares_memory(PyObject *self, PyObject *other) {
    return PyBool_FromLong(lw_is_tensor(other) && ((lw_tensor *)self)->storage == ((lw_tensor *)other)->storage);
}

/* Returns a tensor on another backend, marked as placed there by the user: a view of the same elements if the backends
 * share memory, else a copy. */
static PyObject *place_on(PyObject *self, PyObject *name) {
    lw_tensor *tensor = (lw_tensor *)self;
    int backend = lw_parse_backend(name);
    if (backend < 0 || lw_require_open(backend) < 0) {
        return NULL;
    }
    if (lw_devices[backend] != tensor->storage->device) {
        return (PyObject *)lw_copy_tensor(tensor, tensor->dtype, (lw_placement){backend, 1});
    }
    lw_tensor *placed = lw_tensor_view(tensor, tensor->data, tensor->ndim, tensor->shape, tensor->strides);
    if (placed) {
        placed->backend = (int8_t)backend;
        placed->committed = 1;
    }
    return (PyObject *)placed;
}

LW_NAMED("to", place_on)

PyMethodDef lw_exchange_methods[] = {
    {"tolist", to_list, METH_NOARGS, "tolist($self, /)\n--\n\nNested lists of Python numbers."},
    {"item", item, METH_NOARGS, "item($self, /)\n--\n\nThe element of a tensor of size 1, as a Python number."},
    {"copy", copy, METH_NOARGS, "copy($self, /)\n--\n\nA row-major copy in new memory."},
    {"tobytes", named_to_bytes, METH_NOARGS, "tobytes($self, /)\n--\n\nThe elements in row-major order, as bytes."},
    {"_data_pointer", data_pointer, METH_NOARGS, NULL},
    {"_shares_storage", shares_memory, METH_O, NULL},
    {"_place_on", named_place_on, METH_O, NULL},
    {"__dlpack__", (PyCFunction)(void *)lw_dlpack_export, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__dlpack_device__", lw_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

LW_NAMED_FAST("asarray", from_object)
LW_NAMED_FAST("from_bytes", from_bytes)

PyMethodDef lw_exchange_functions[] = {
    {"from_object", (PyCFunction)(void *)named_from_object, METH_FASTCALL, NULL},
    {"from_bytes", (PyCFunction)(void *)named_from_bytes, METH_FASTCALL, NULL},
    {"from_dlpack_capsule", lw_dlpack_import, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
