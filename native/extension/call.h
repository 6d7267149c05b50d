/* One call of an operation: its arguments, where it runs, and the handler for each kind. */
#pragma once

#include "module.h"
#include "operand.h"

enum { LW_MAX_PARAMETERS = 8, LW_MAX_INPUTS = 4 };

/* All references are borrowed. */
typedef struct lw_arguments {
    const lw_operation *operation;
    PyObject *const *inputs;     /* NULL where absent or None */
    PyObject *const *parameters; /* NULL where the default applies */
    PyObject *out;               /* NULL to make a new tensor */
    /* the original call, for lanewise/dispatch.py */
    PyObject *self;
    PyObject *const *positional;
    Py_ssize_t positional_count;
    PyObject *keyword_names;
} lw_arguments;

/* Passes the original call to lanewise/dispatch.py and returns its result. */
PyObject *lw_call_python(const lw_arguments *arguments);

/* Encodes the kernel parameters in the contract's order. Returns their number, or -1 with an error set. */
int lw_parse_kernel_parameters(const lw_arguments *arguments, lw_scalar *scalars);
/* Returns NULL if no operation has this name. */
const lw_operation *lw_find_operation(const char *name);
/* The position of the operation's first parameter of this type, or -1. */
int lw_find_parameter(const lw_operation *operation, lw_parameter_type type);

/* The handlers, one per kind. Each returns a new reference, or NULL with an error set. */
typedef PyObject *lw_handler(const lw_arguments *arguments);
lw_handler lw_call_elementwise, lw_call_cast, lw_call_reduction, lw_call_rows, lw_call_matrix, lw_call_window,
    lw_call_eigen, lw_call_rotation, lw_call_attention, lw_call_gather, lw_call_sort, lw_call_search, lw_call_view;

/* Calls an operation with positional inputs and default parameters, as operators do. */
PyObject *lw_call_inputs(const lw_operation *operation, PyObject *const *inputs, PyObject *out);

/* A row-major copy of an operand, converted to `dtype` if that differs. */
lw_tensor *lw_cast(const char *operation, const lw_operand *operand, int dtype);
/* Copies `source`, broadcast and cast, into the elements of `target`. */
int lw_copy_into(const char *operation, lw_tensor *target, lw_operand *source);

/* Where a call runs: the backend of lowest priority among those on which the user placed operands, else the current
 * one. LW_NEEDS_PYTHON if that is a GPU's. */
typedef struct lw_place {
    int backend;
    int committed;
} lw_place;
lw_outcome lw_resolve_place(const char *operation, const lw_operand *operands, int count, lw_place *place);

/* The shape to which operands broadcast; those with data NULL are skipped. Returns its number of dimensions, or -1 with
 * ShapeError set. */
int lw_broadcast_shape(const char *operation, const lw_operand *operands, int count, int64_t *shape);
/* Fills `layout` from `ndim` dimensions and the strides of each operand. Drops dimensions of extent 1 and merges
 * neighbors that every operand steps through evenly; the last `inner` dimensions merge only with each other. */
void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]);
/* The strides with which an operand steps through a broadcast shape: 0 along repeated dimensions. */
void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides);

/* Returns `out`, after checking its dtype, shape, contiguity, writability and overlap with the operands, or a new
 * tensor if `out` is NULL. `out` may be one of the first `in_place` operands itself. A new reference, or NULL with an
 * error set. */
lw_tensor *lw_prepare_output(const char *operation, PyObject *out, int dtype, int ndim, const int64_t *shape,
                             const lw_operand *operands, int count, int in_place, lw_place place);

/* Whether the operand and the output may share bytes; compares the ranges of memory that they span. */
int lw_overlaps(const lw_tensor *out, const lw_operand *operand);

/* Fills one operand per input, with data NULL for an absent one, and finds where the call runs. The caller releases all
 * of them, whatever the outcome. */
lw_outcome lw_read_inputs(const lw_operation *operation, PyObject *const *inputs, lw_operand *operands,
                          lw_place *place);

/* Reads the inputs of a call, passes them to `compute` and releases them. Passes the call to lanewise/dispatch.py if
 * the extension cannot read an input. `compute` returns a new reference, or NULL with an error set. */
typedef PyObject *lw_compute(const lw_arguments *arguments, lw_operand *operands, lw_place place);
PyObject *lw_call_with_operands(const lw_arguments *arguments, lw_compute *compute);

/* Runs a kernel. Long runs release the GIL, check for Ctrl-C and use several threads. `work` estimates the time, as
 * the number of elements of two tensors whose addition takes as long. Returns 0, or -1 with an error set. */
int lw_run(const lw_operation *operation, int backend, int kernel, const void *layout, const void *const *inputs,
           void *const *outputs, const lw_scalar *parameters, int64_t work);
/* Runs a kernel on all operands of a call with one result. Returns `out`, or releases it and returns NULL with an error
 * set. */
PyObject *lw_run_into(lw_tensor *out, const lw_operation *operation, lw_place place, int kernel, const void *layout,
                      const lw_operand *operands, const lw_scalar *parameters, int64_t work);

/* Whether the call names this parameter, with a value other than None. */
int lw_has_parameter(const lw_arguments *arguments, const char *name);
