/* Executes plans. */
#pragma once

#include "plan/plan.h"

/* Makes the results of a plan, or checks `out` unless it is NULL, and computes them. Returns a new reference to the
 * result, to a named tuple if there are two, or NULL with an error set. */
PyObject *lw_execute(lw_plan *plan, PyObject *out);
/* Checks the argument `out`: its dtype and shape, and that it is contiguous, writable and does not overlap with the
 * operands. It may, however, be one of the first `in_place` operands itself. Returns a new reference, or NULL with an
 * error set. */
lw_tensor *lw_check_out(const lw_plan *plan, PyObject *out);
/* Computes the first result of a plan in `target`, which must have the dtype, the shape and the strides that the plan
 * states. Returns 0, or -1 with an error set. */
int lw_execute_into(lw_plan *plan, lw_tensor *target);

/* Returns a copy of an operand, converted to `dtype` if the operand has another dtype. On the CPU, it keeps the order
 * of the operand's axes in memory. */
lw_tensor *lw_cast(const lw_operand *operand, int dtype);
lw_tensor *lw_cast_tensor(lw_tensor *tensor, int dtype);
lw_tensor *lw_copy_row_major(lw_tensor *tensor);
/* Does the same as lw_cast at `placement`, but the copy is row-major. */
lw_tensor *lw_copy_to(const lw_operand *operand, int dtype, lw_placement placement);
lw_tensor *lw_copy_tensor(lw_tensor *tensor, int dtype, lw_placement placement);
/* Returns a row-major tensor of the same elements on the host: a new reference to the tensor itself if it is one. Waits
 * until they are computed. */
lw_tensor *lw_to_host(lw_tensor *tensor);
/* Returns one element of a tensor as a Python number. */
PyObject *lw_read_item(lw_tensor *tensor, char *data);
/* Assigns `source`, broadcast and cast, to the elements of `target`. Returns -1 with an error set on failure. */
int lw_copy_into(lw_tensor *target, lw_operand *source);
