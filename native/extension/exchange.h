/* Arrays of others: the buffer protocol, sequences, DLPack. */
#pragma once

#include "tensor.h"

/* A tensor of any object: a tensor itself, a view on a buffer, a copy of a number or of nested sequences. A new
 * reference. NULL with an error set, or without one where lanewise/dispatch.py has to convert the object. */
lw_tensor *lw_tensor_from_object(const char *operation, PyObject *object);

/* A tensor of a number, or of nested sequences of numbers, in `dtype` or, with -1, the least of bool, int32, int64 and
 * float32 that holds them. */
lw_tensor *lw_tensor_from_numbers(const char *operation, PyObject *numbers, int dtype);

/* One element as a Python number. */
PyObject *lw_item(int dtype, const char *data);

/* The one element of a tensor of size 1; `what` names the caller in the error where there are more. */
PyObject *lw_single_item(PyObject *tensor, const char *what);

/* The same elements under another shape, a view where strides allow it. One extent may be -1. */
lw_tensor *lw_reshape(lw_tensor *tensor, int ndim, int64_t *shape);

/* Raises the error of a tensor on a device where one of the host is needed. Returns NULL. */
PyObject *lw_refuse_device(const char *operation);

/* dlpack.c: methods of Tensor and a function of the module. */
PyObject *lw_dlpack_export(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keyword_names);
PyObject *lw_dlpack_device(PyObject *self, PyObject *unused);
PyObject *lw_dlpack_import(PyObject *module, PyObject *capsule);

/* The value of a float16. */
double lw_decode_half(uint16_t half);
