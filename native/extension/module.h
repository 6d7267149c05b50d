/* Declarations that the files of the extension share, other than tensors, operands and calls. */
#pragma once

#include "lanewise_table.h"
#include "tensor.h"

/* The DType of lanewise/dtypes.py, a borrowed reference. */
PyObject *lw_dtype_object(int dtype);

/* Calls one of the Python functions that lanewise/__init__.py handed to initialize(). Its arguments are the operation's
 * name, unless that is NULL, and up to three objects, NULL after the last. Errors of Lanewise come back without the
 * frames of lanewise's own modules. */
PyObject *lw_call_hook(const char *name, const char *operation, PyObject *first, PyObject *second, PyObject *third);

/* The dtype that an object names: a DType, "float32", float, a dtype of NumPy. -1 with an error set. */
int lw_parse_dtype(const char *operation, PyObject *object);

/* Libraries of kernels and the choice of one (backends.c). */
LW_HIDDEN const lw_library *lw_libraries[LW_BACKEND_COUNT]; /* NULL until opened */
const char *lw_backend_name(int backend);
int lw_find_backend(const char *name); /* -1 if no backend has this name */
/* The backend of work that the user did not place: the innermost use_backend() of this thread, else the default.
 * `committed` says whether use_backend() chose it. */
int lw_current_backend(int *committed);
/* The current backend if it runs on the CPU, else the scalar one. */
int lw_host_backend(int *committed);
LW_HIDDEN int lw_strict_backends; /* raise if the user placed the operands of a call on different backends */
LW_HIDDEN PyMethodDef lw_backend_functions[], lw_backend_methods[];

/* Slots that each file adds to the Tensor type. Each function returns their number. */
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

/* The cache of freed memory (storage.c): freeing all of it, and the bytes that may still be added. lw_cache_space_left
 * needs no GIL. */
LW_HIDDEN PyMethodDef lw_storage_functions[];
void lw_storage_trim(void);
int64_t lw_cache_space_left(void);
