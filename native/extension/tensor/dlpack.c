/* DLPack, versions 0 and 1 (https://dmlc.github.io/dlpack): exports tensors to other libraries as capsules that share
 * their memory, and imports capsules of other libraries as tensors on their memory. */
#include "device/chain.h"
#include "python/errors.h"
#include "tensor/exchange.h"
#include <stdlib.h>
#include <string.h>

enum { DLPACK_CPU = 1, DLPACK_READ_ONLY = 1 };

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL for row-major */
    uint64_t byte_offset;
} dl_tensor;

typedef struct managed {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(void *self);
} managed;

typedef struct versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(void *self);
    uint64_t flags;
    dl_tensor tensor;
} versioned;

/* What an exported capsule owns: a reference to the tensor's storage, and the arrays that its dl_tensor points to. */
typedef struct exported_tensor {
    union {
        managed unversioned;
        versioned versioned;
    } as;
    lw_storage *storage;
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_NDIM];
} exported_tensor;

/* The consumer may delete the tensor on any thread, with or without the GIL, and even after Python has ended. Once
 * Python has ended, no thread can take the GIL, so the memory is not freed, as in NumPy. */
static void release_lent(exported_tensor *exported_tensor) {
#if !defined(__wasm__)
    if (!Py_IsInitialized() && !PyGILState_GetThisThreadState()) {
        return;
    }
#endif
    PyGILState_STATE gil = PyGILState_Ensure();
    lw_storage_release(exported_tensor->storage);
    PyGILState_Release(gil);
    free(exported_tensor);
}

static void delete_unversioned(void *self) { release_lent(((managed *)self)->manager); }
static void delete_versioned(void *self) { release_lent(((versioned *)self)->manager); }

static const char *const names[] = {"dltensor", "dltensor_versioned"}; /* of capsules that no consumer has used */

/* Has a library delete what a capsule of it contained. */
static void delete_managed(void *contents, int is_versioned) {
    void (*deleter)(void *) = is_versioned ? ((versioned *)contents)->deleter : ((managed *)contents)->deleter;
    if (deleter) {
        deleter(contents);
    }
}

/* Runs when a capsule is deleted. A capsule that no consumer has used still owns its exported_tensor. */
static void destroy_capsule(PyObject *capsule) {
    for (int is_versioned = 0; is_versioned < 2; is_versioned++) {
        if (PyCapsule_IsValid(capsule, names[is_versioned])) {
            delete_managed(PyCapsule_GetPointer(capsule, names[is_versioned]), is_versioned);
        }
    }
}

static PyObject *make_capsule(lw_tensor *tensor, int wants_version, int is_copy) {
    if (lw_share(tensor) < 0) {
        return NULL;
    }
    exported_tensor *exported_tensor = calloc(1, sizeof *exported_tensor);
    if (!exported_tensor) {
        return PyErr_NoMemory();
    }
    int64_t item_size = lw_item_size(tensor->dtype);
    dl_tensor *view = wants_version ? &exported_tensor->as.versioned.tensor : &exported_tensor->as.unversioned.tensor;
    for (int i = 0; i < tensor->ndim; i++) {
        exported_tensor->shape[i] = tensor->shape[i];
        exported_tensor->strides[i] = tensor->strides[i] / item_size;
    }
    view->data = tensor->data;
    view->device.type = DLPACK_CPU;
    view->ndim = tensor->ndim;
    view->dtype.code = lw_dtypes[tensor->dtype].dlpack;
    view->dtype.bits = (uint8_t)(8 * item_size);
    view->dtype.lanes = 1;
    view->shape = exported_tensor->shape;
    view->strides = exported_tensor->strides;
    exported_tensor->storage = tensor->storage;
    if (wants_version) {
        exported_tensor->as.versioned.version.major = 1;
        exported_tensor->as.versioned.manager = exported_tensor;
        exported_tensor->as.versioned.deleter = delete_versioned;
        exported_tensor->as.versioned.flags = (tensor->read_only ? DLPACK_READ_ONLY : 0) | (is_copy ? 2u : 0u);
    } else {
        exported_tensor->as.unversioned.manager = exported_tensor;
        exported_tensor->as.unversioned.deleter = delete_unversioned;
    }
    PyObject *capsule = PyCapsule_New(exported_tensor, names[wants_version], destroy_capsule);
    if (!capsule) {
        free(exported_tensor);
        return NULL;
    }
    tensor->storage->references++;
    return capsule;
}

static int has_even_strides(const lw_tensor *tensor) {
    for (int i = 0; i < tensor->ndim; i++) {
        if (tensor->strides[i] % lw_item_size(tensor->dtype)) {
            return 0;
        }
    }
    return 1;
}

/* __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None) */
PyObject *lw_dlpack_export(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keyword_names) {
    lw_tensor *tensor = (lw_tensor *)self;
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    const struct {
        const char *name;
        PyObject **value;
    } keywords[] = {{"stream", &stream}, {"max_version", &max_version}, {"dl_device", &device}, {"copy", &copy}};
    for (Py_ssize_t i = 0; keyword_names && i < PyTuple_Size(keyword_names); i++) {
        for (int j = 0; j < 4; j++) {
            if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keyword_names, i), keywords[j].name) == 0) {
                *keywords[j].value = arguments[count + i];
            }
        }
    }
    if (count > 0 || tensor->storage->device || stream != Py_None) {
        return PyErr_Format(PyExc_BufferError,
                            "__dlpack__: expected a tensor on the CPU, stream=None and no positional arguments, got a "
                            "tensor on %s, stream=%S and %zd positional arguments",
                            lw_backend_name(tensor->backend), lw_describe(stream), count);
    }
    if (device != Py_None) {
        PyObject *own = lw_dlpack_device(self, NULL);
        PyObject *same = own ? PyObject_RichCompare(own, device, Py_EQ) : NULL;
        int equal = same ? PyObject_IsTrue(same) : -1;
        Py_XDECREF(own);
        Py_XDECREF(same);
        if (equal <= 0) {
            return equal < 0 ? NULL
                             : PyErr_Format(PyExc_BufferError, "__dlpack__: expected dl_device (1, 0), the CPU, got %S",
                                            lw_describe(device));
        }
    }
    int wants_version = 0;
    if (lw_is_tuple(max_version) && PyTuple_Size(max_version) > 0) {
        Py_ssize_t major = PyNumber_AsSsize_t(PyTuple_GetItem(max_version, 0), NULL);
        if (major == -1 && PyErr_Occurred()) {
            return NULL;
        }
        wants_version = major >= 1;
    }
    int copies = copy == Py_True || !has_even_strides(tensor);
    if (copies && copy == Py_False) {
        return PyErr_Format(
            PyExc_BufferError,
            "__dlpack__: copy=False, but strides that are not multiples of the item size need a copy; leave out copy");
    }
    if (!copies && tensor->read_only && !wants_version) {
        return PyErr_Format(PyExc_BufferError,
                            "__dlpack__: a read-only tensor needs max_version=(1, 0) or later, or copy=True");
    }
    if (!copies) {
        return make_capsule(tensor, wants_version, 0);
    }
    PyObject *copied = PyObject_CallMethod(self, "copy", NULL);
    PyObject *capsule = copied ? make_capsule((lw_tensor *)copied, wants_version, 1) : NULL;
    Py_XDECREF(copied);
    return capsule;
}

PyObject *lw_dlpack_device(PyObject *self, PyObject *unused) {
    if (((lw_tensor *)self)->storage->device) {
        return PyErr_Format(
            PyExc_BufferError,
            "__dlpack_device__: expected a tensor on the CPU, got one on a GPU; move it with to(\"cpu\")");
    }
    PyObject *pair = PyTuple_New(2);
    if (pair) {
        PyTuple_SetItem(pair, 0, PyLong_FromLongLong(DLPACK_CPU));
        PyTuple_SetItem(pair, 1, PyLong_FromLongLong(0));
    }
    return pair;
}

static void release_unversioned(lw_storage *storage) { delete_managed(storage->owner, 0); }
static void release_versioned(lw_storage *storage) { delete_managed(storage->owner, 1); }

static int dtype_of(const dl_tensor *view) {
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        if (lw_dtypes[dtype].dlpack == view->dtype.code && 8 * lw_dtypes[dtype].size == view->dtype.bits &&
            view->dtype.lanes == 1) {
            return dtype;
        }
    }
    return -1;
}

static void refuse_type(const dl_tensor *view) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    int is_known = view->dtype.code < sizeof names / sizeof *names && view->dtype.lanes == 1;
    if (is_known) {
        lw_raise(LW_DTYPE_ERROR, "expected %s, got %s%d; convert it first", lw_dtype_list, names[view->dtype.code],
                 view->dtype.bits);
    } else {
        lw_raise(LW_DTYPE_ERROR, "expected %s, got DLPack code %d, %d bits, %d lanes; convert it first", lw_dtype_list,
                 view->dtype.code, view->dtype.bits, view->dtype.lanes);
    }
}

/* Checks the tensor in another library's capsule before its memory is used. Returns -1 with an error set on failure. */
static int check_view(const dl_tensor *view) {
    if (view->device.type != DLPACK_CPU) {
        PyErr_Format(PyExc_BufferError,
                     "from_dlpack: expected an array on the CPU, got one on a device of DLPack type %d; copy it to the "
                     "CPU first",
                     view->device.type);
        return -1;
    }
    if (view->ndim < 0 || view->ndim > LW_MAX_NDIM || (view->ndim > 0 && !view->shape)) {
        return lw_refuse(LW_SHAPE_ERROR, "expected an array of 0 to %d dimensions, got %d%s", LW_MAX_NDIM, view->ndim,
                         view->ndim > 0 && !view->shape ? " without a shape" : "");
    }
    if (dtype_of(view) < 0) {
        refuse_type(view);
        return -1;
    }
    return 0;
}

static lw_tensor *tensor_from_view(const dl_tensor *view, lw_storage *storage) {
    int dtype = dtype_of(view);
    int64_t strides[LW_MAX_NDIM];
    int64_t bytes = lw_row_major(view->ndim, view->shape, lw_item_size(dtype), strides);
    if (bytes < 0) {
        const char *text = lw_shape_text(view->ndim, view->shape);
        lw_storage_release(storage); /* may free the view */
        return lw_raise(LW_SHAPE_ERROR,
                        "expected extents of at least 0 and an array of fewer than 2^63 bytes, got shape %s", text);
    }
    for (int i = 0; view->strides && i < view->ndim; i++) {
        strides[i] = view->strides[i] * lw_item_size(dtype);
    }
    return lw_tensor_from_storage(storage, (char *)view->data + view->byte_offset, dtype, view->ndim, view->shape,
                                  strides, lw_host_placement());
}

static PyObject *import_capsule(PyObject *module, PyObject *capsule) {
    int is_versioned = PyCapsule_IsValid(capsule, names[1]);
    if (!is_versioned && !PyCapsule_IsValid(capsule, names[0])) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected an unused DLPack capsule, got %S", lw_describe(capsule));
    }
    void *owner = PyCapsule_GetPointer(capsule, names[is_versioned]);
    const versioned *newer = owner;
    if (is_versioned && newer->version.major != 1) {
        return PyErr_Format(PyExc_BufferError, "from_dlpack: expected a capsule of DLPack version 1, got version %u.%u",
                            newer->version.major, newer->version.minor);
    }
    const dl_tensor *view = is_versioned ? &newer->tensor : &((managed *)owner)->tensor;
    if (check_view(view) < 0) {
        return NULL;
    }
    int read_only = is_versioned && (newer->flags & DLPACK_READ_ONLY);
    lw_storage *storage =
        lw_storage_borrow(view->data, 0, read_only, owner, is_versioned ? release_versioned : release_unversioned);
    if (!storage) {
        return NULL;
    }
    PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor");
    return (PyObject *)tensor_from_view(view, storage);
}

PyObject *lw_dlpack_import(PyObject *module, PyObject *capsule) {
    return lw_named("from_dlpack", import_capsule(module, capsule));
}
