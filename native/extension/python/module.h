/* What the files of the extension add to the module and to the type Tensor. */
#pragma once

#include "pyabi.h"
#include "visibility.h"

int lw_type_setup(PyObject *module); /* creates the type Tensor */

/* Each function writes those slots of the Tensor type that its file implements, and returns their number. */
int lw_operator_slots(PyType_Slot *slots);
int lw_index_slots(PyType_Slot *slots);
int lw_exchange_slots(PyType_Slot *slots);

LW_HIDDEN PyMethodDef lw_exchange_functions[], lw_exchange_methods[];
LW_HIDDEN PyMethodDef lw_call_functions[];
LW_HIDDEN PyMethodDef lw_creation_functions[];
LW_HIDDEN PyMethodDef lw_gather_functions[];
LW_HIDDEN PyMethodDef lw_sort_functions[];
#if defined(__wasm__)
LW_HIDDEN PyMethodDef lw_worker_functions[]; /* workers.c */
#else
LW_HIDDEN PyMethodDef lw_thread_functions[]; /* run.c */
#endif
LW_HIDDEN PyMethodDef lw_backend_functions[], lw_storage_functions[];
LW_HIDDEN PyMethodDef lw_device_functions[], lw_webgpu_functions[];
LW_HIDDEN PyMethodDef lw_cost_functions[], lw_offload_functions[], lw_host_chain_functions[];
