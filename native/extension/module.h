/* What the parts of the extension share beyond tensors, operands and calls. */
#pragma once

#include "lanewise_table.h"
#include "tensor.h"

#define LW_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7)

/* The DType of lanewise/dtypes.py, a borrowed reference. */
PyObject *lw_dtype_object(int dtype);

/* Calls one of the Python functions that lanewise/__init__.py handed to initialize(). Its arguments are the operation's
 * name, unless that is NULL, and up to three objects, NULL after the last. Errors of Lanewise come back without the
 * frames of lanewise's own modules. */
PyObject *lw_call_hook(const char *name, const char *operation, PyObject *first, PyObject *second, PyObject *third);

/* The dtype that a Python object names (a DType, "float32", float, a NumPy dtype), -1 with an error set. */
int lw_parse_dtype(const char *operation, PyObject *object);

/* backends.c: libraries of kernels and the choice among them */
LW_HIDDEN const lw_library *lw_libraries[LW_BACKEND_COUNT]; /* NULL where not opened */
const char *lw_backend_name(int backend);
int lw_find_backend(const char *name); /* -1 where there is none of that name */
/* What uncommitted work runs on: the thread's use_backend(), else the default. */
int lw_current_backend(int *committed);
/* The same, or the scalar backend where that is a GPU's: for results of the host. */
int lw_host_backend(int *committed);
LW_HIDDEN int lw_strict_backends; /* tensors that the user placed on different backends are an error */
LW_HIDDEN PyMethodDef lw_backend_functions[], lw_backend_methods[];

/* Slots that each part adds to the Tensor type; the return value is their number. */
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

/* storage.c: memory that is kept to be used again, letting all of it go, and how much more of it there may be (which
 * may be asked without the GIL) */
LW_HIDDEN PyMethodDef lw_storage_functions[];
void lw_storage_trim(void);
int64_t lw_cache_space_left(void);
