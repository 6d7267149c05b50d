/* Conversion from and to other objects: buffers, sequences of numbers, DLPack. */
#pragma once

#include "tensor.h"

/* A tensor from any object that the extension reads: a tensor itself, a view of a buffer, or a copy of a number or
 * nested sequences. A new reference. Returns NULL with an error set, or without one if lanewise/dispatch.py has to
 * convert the object. */
lw_tensor *lw_tensor_from_object(const char *operation, PyObject *object);

/* A tensor of a number or of nested sequences of numbers. If `dtype` is -1, the first of bool, int32, int64 and float32
 * that holds them. */
lw_tensor *lw_tensor_from_numbers(const char *operation, PyObject *numbers, int dtype);

/* One element as a Python number. */
PyObject *lw_item(int dtype, const char *data);

/* The element of a tensor of size 1. `what` names the caller in the error. */
PyObject *lw_single_item(PyObject *tensor, const char *what);

/* The same elements in another shape: a view if the strides allow one, else a copy. One extent may be -1. */
lw_tensor *lw_reshape(lw_tensor *tensor, int ndim, int64_t *shape);

/* Raises the error of a tensor on a GPU where one on the CPU is needed. Returns NULL. */
PyObject *lw_refuse_device(const char *operation);

/* Methods of Tensor and a function of the module (dlpack.c). */
PyObject *lw_dlpack_export(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keyword_names);
PyObject *lw_dlpack_device(PyObject *self, PyObject *unused);
PyObject *lw_dlpack_import(PyObject *module, PyObject *capsule);

double lw_decode_half(uint16_t half);
