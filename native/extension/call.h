/* One call of an operation: its arguments, where it runs, and the handler of each kind. */
#pragma once

#include "module.h"
#include "operand.h"

enum { LW_MAX_PARAMETERS = 8, LW_MAX_INPUTS = 4 };

/* All references are borrowed. */
typedef struct lw_arguments {
    const lw_operation *operation;
    PyObject *const *inputs;     /* NULL where absent or None */
    PyObject *const *parameters; /* NULL where the default applies */
    PyObject *out;               /* NULL where a new tensor is to be made */
    /* as it was called, for lanewise/dispatch.py */
    PyObject *self;
    PyObject *const *positional;
    Py_ssize_t positional_count;
    PyObject *keyword_names;
} lw_arguments;

/* Hands the call to lanewise/dispatch.py as it came. */
PyObject *lw_call_python(const lw_arguments *arguments);

/* Parameters as kernels take them, in the contract's order; those of the host are skipped. */
int lw_parse_kernel_parameters(const lw_arguments *arguments, lw_scalar *scalars);
/* The operation of this name, NULL where there is none. */
const lw_operation *lw_find_operation(const char *name);
/* The position of a parameter of this type in the operation, -1 where it has none. */
int lw_find_parameter(const lw_operation *operation, lw_parameter_type type);

/* One handler a kind. */
typedef PyObject *lw_handler(const lw_arguments *arguments);
lw_handler lw_call_elementwise, lw_call_cast, lw_call_reduction, lw_call_rows, lw_call_matrix, lw_call_window,
    lw_call_eigen, lw_call_rotation, lw_call_attention, lw_call_gather, lw_call_sort, lw_call_search, lw_call_view;

/* An operation on positional inputs without more ado: what operators call. */
PyObject *lw_call_inputs(const lw_operation *operation, PyObject *const *inputs, PyObject *out);

/* A row-major copy of an operand in another dtype. */
lw_tensor *lw_cast(const char *operation, const lw_operand *operand, int dtype);
/* Copies `source`, broadcast and cast, into the elements of `target`. */
int lw_copy_into(const char *operation, lw_tensor *target, lw_operand *source);

/* Where a call runs: the lowest-priority backend on which the user placed an operand, else the current one.
 * LW_NEEDS_PYTHON where lanewise/dispatch.py has to move tensors first. */
typedef struct lw_place {
    int backend;
    int committed;
} lw_place;
lw_outcome lw_resolve_place(const lw_operand *operands, int count, lw_place *place);

/* Broadcasting and collapsing. */
int lw_broadcast_shape(const char *operation, const lw_operand *operands, int count, int64_t *shape);
/* Fills `layout` from `ndim` dimensions and each operand's strides: dimensions of extent 1 go, neighbours merge
 * where every operand walks them evenly; the last `inner` dimensions merge only among themselves. */
void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]);
/* Strides of an operand walked over a broadcast shape. */
void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides);

/* `out` where it was given, after checking dtype, shape, contiguity, writability and overlap, else a new
 * tensor. It may be one of the first `in_place` operands itself. A new reference, or NULL with an error set. */
lw_tensor *lw_prepare_output(const char *operation, PyObject *out, int dtype, int ndim, const int64_t *shape,
                             const lw_operand *operands, int count, int in_place, lw_place place);

/* Whether an operand's elements and the output's may share bytes. */
int lw_overlaps(const lw_tensor *out, const lw_operand *operand);

/* Fills an operand for every input, data NULL for an absent one, and finds where the call runs. All of them may be
 * released afterwards whatever it returns. */
lw_outcome lw_read_inputs(const lw_operation *operation, PyObject *const *inputs, lw_operand *operands,
                          lw_place *place);

/* A call of a kind whose handler computes with operands: they are taken, handed to `compute` for a new reference or
 * NULL with an error set, and released. Where they are not the extension's, lanewise/dispatch.py gets the call. */
typedef PyObject *lw_compute(const lw_arguments *arguments, lw_operand *operands, lw_place place);
PyObject *lw_call_with_operands(const lw_arguments *arguments, lw_compute *compute);

/* Runs a kernel; long ones without the GIL, interruptible, and on several threads. `work` is about the number of
 * elements that a sum of two tensors has which takes as long.
 * 0, or -1 with an error set. */
int lw_run(const lw_operation *operation, int backend, int kernel, const void *layout, const void *const *inputs,
           void *const *outputs, const lw_scalar *parameters, int64_t work);
/* The same over all operands of a call into its one result. `out`, or NULL with an error set and `out` released. */
PyObject *lw_run_into(lw_tensor *out, const lw_operation *operation, lw_place place, int kernel, const void *layout,
                      const lw_operand *operands, const lw_scalar *parameters, int64_t work);

/* Whether a parameter of this name was given, and not None. */
int lw_has_parameter(const lw_arguments *arguments, const char *name);
