/* Handles calls of operations. */
#pragma once

#include "plan/arguments.h"
#include "plan/operand.h"

/* Calls an operation with these inputs and default parameters, as operators do. Returns a new reference, or NULL with
 * an error set. */
PyObject *lw_call_inputs(const lw_operation *operation, PyObject *const *inputs, PyObject *out);

/* Handles a call of an operation that is composed in Python, if it is a frequent and simple one. Returns NULL, without
 * an error set, if it is not. */
PyObject *lw_call_composed(const lw_arguments *arguments);

/* Does the same for an operation that creates a tensor from a shape and numbers. */
PyObject *lw_call_created(const lw_arguments *arguments);
/* Returns the row-major positions, on the host, of the true elements of a mask, or of the elements of any tensor that
 * are not zero. */
lw_tensor *lw_mask_positions(lw_tensor *mask);

/* Handlers of operations that are not planned: astype and views. Each sets `result`, which stays NULL on failure. */
lw_outcome lw_call_cast(const lw_arguments *arguments, PyObject **result);
lw_outcome lw_call_view(const lw_arguments *arguments, PyObject **result);
/* Handles an elementwise call if it is a frequent and simple one. Returns whether it was. */
int lw_call_uniform(const lw_arguments *arguments, PyObject **result);
