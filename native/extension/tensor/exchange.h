/* Converts tensors from and to other objects: buffers, sequences of numbers, DLPack. */
#pragma once

#include "tensor/tensor.h"

/* Returns a new reference to a tensor with the elements of an object: a tensor is returned as it is, a buffer shares
 * its memory with the tensor, and numbers and nested sequences are copied. Returns NULL with an error
 * set on failure, and NULL without an error if lanewise/dispatch.py has to convert the object. */
lw_tensor *lw_tensor_from_object(PyObject *object);

/* Converts a number, or nested sequences of numbers, to a tensor. If `dtype` is -1, the tensor has the first of the
 * dtypes bool, int32, int64 and float32 that can hold the numbers, or float32 if the sequence is empty. */
lw_tensor *lw_tensor_from_numbers(PyObject *numbers, int dtype);

/* Returns the element of a tensor of size 1 as a Python number. The error for another size ends with `advice`. */
PyObject *lw_single_item(PyObject *tensor, const char *advice);

/* Returns the same elements in another shape: a view if the strides allow one, else a copy. One extent may be -1. */
lw_tensor *lw_reshape(lw_tensor *tensor, int ndim, int64_t *shape);

/* The methods __dlpack__ and __dlpack_device__ of Tensor, and the function from_dlpack_capsule of the module
 * (dlpack.c). */
PyObject *lw_dlpack_export(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keyword_names);
PyObject *lw_dlpack_device(PyObject *self, PyObject *unused);
PyObject *lw_dlpack_import(PyObject *module, PyObject *capsule);
