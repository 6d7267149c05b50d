/* Declarations that the files of the extension share, other than those for tensors, operands and calls. */
#pragma once

#include "lanewise_table.h"
#include "tensor.h"

/* Returns the DType object of lanewise/dtypes.py for an lw_dtype, as a borrowed reference. */
PyObject *lw_dtype_object(int dtype);

/* Calls one of the Python functions that lanewise/__init__.py passed to initialize(). The function receives the
 * operation's name, unless `operation` is NULL, and up to three objects; those that are not needed are NULL. The
 * traceback of a Lanewise error does not show the frames of lanewise's own modules. */
PyObject *lw_call_hook(const char *name, const char *operation, PyObject *first, PyObject *second, PyObject *third);

/* Returns the dtype that an object names (a DType, "float32", float or a dtype of NumPy), or -1 with an error set. */
int lw_parse_dtype(PyObject *object);

/* Kernel libraries and the choice of a backend (backends.c). */
LW_HIDDEN const lw_library *lw_libraries[LW_BACKEND_COUNT]; /* NULL until opened */
const char *lw_backend_name(int backend);
int lw_find_backend(const char *name); /* -1 if no backend has this name */
/* Returns the backend for a call if the user has not placed any of its operands on a backend: that of the innermost
 * use_backend() block in this thread, or the default outside such blocks. Sets `committed` to whether use_backend()
 * chose the backend. */
int lw_current_backend(int *committed);
/* Returns the current backend if it runs on the CPU, else the scalar backend. */
int lw_host_backend(int *committed);
LW_HIDDEN int lw_strict_backends; /* if set, operands placed on different backends are an error */
LW_HIDDEN PyMethodDef lw_backend_functions[], lw_backend_methods[];

/* Each function writes those slots of the Tensor type that its file implements, and returns their number. */
int lw_operator_slots(PyType_Slot *slots);
int lw_index_slots(PyType_Slot *slots);
int lw_exchange_slots(PyType_Slot *slots);

LW_HIDDEN PyMethodDef lw_exchange_functions[], lw_exchange_methods[];
LW_HIDDEN PyMethodDef lw_call_functions[];
LW_HIDDEN PyMethodDef lw_creation_functions[];
LW_HIDDEN PyMethodDef lw_gather_functions[];
LW_HIDDEN PyMethodDef lw_sort_functions[];
#if !defined(__wasm__)
LW_HIDDEN PyMethodDef lw_thread_functions[]; /* run.c */
#endif

/* The cache of freed memory (storage.c). lw_storage_trim() frees all of it. lw_cache_space_left() returns the number
 * of bytes that still fit into the cache, and needs no GIL. */
LW_HIDDEN PyMethodDef lw_storage_functions[];
void lw_storage_trim(void);
int64_t lw_cache_space_left(void);
