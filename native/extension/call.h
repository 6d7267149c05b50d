/* Declarations for calls of operations: the arguments, the backend that runs a call, and the handler of each kind. */
#pragma once

#include "module.h"
#include "operand.h"

enum { LW_MAX_PARAMETERS = 8, LW_MAX_INPUTS = 4 };

/* The arguments of one call. All references are borrowed. */
typedef struct lw_arguments {
    const lw_operation *operation;
    PyObject *const *inputs;     /* an element is NULL if that input is absent or None */
    PyObject *const *parameters; /* an element is NULL if the default of that parameter applies */
    PyObject *out;               /* NULL to return a new tensor */
    /* the arguments as the caller passed them, for lanewise/dispatch.py */
    PyObject *self;
    PyObject *const *positional;
    Py_ssize_t positional_count;
    PyObject *keyword_names;
} lw_arguments;

/* Passes the original call to lanewise/dispatch.py and returns its result. */
PyObject *lw_call_python(const lw_arguments *arguments);

/* Parses the parameters that the kernel receives, in the contract's order. Returns their number, or -1 with an error
 * set. */
int lw_parse_kernel_parameters(const lw_arguments *arguments, lw_scalar *scalars);
/* Returns the operation of this name, or NULL. */
const lw_operation *lw_find_operation(const char *name);
/* Returns the position of the operation's first parameter of this type, or -1. */
int lw_find_parameter(const lw_operation *operation, lw_parameter_type type);

/* The handlers of the kinds of operation (`handlers` in call.c). Each returns a new reference, or NULL with an error
 * set. */
typedef PyObject *lw_handler(const lw_arguments *arguments);
lw_handler lw_call_elementwise, lw_call_cast, lw_call_reduction, lw_call_rows, lw_call_matrix, lw_call_window,
    lw_call_eigen, lw_call_rotation, lw_call_attention, lw_call_gather, lw_call_sort, lw_call_search, lw_call_view;

/* Calls an operation with these inputs and default parameters, as operators do. */
PyObject *lw_call_inputs(const lw_operation *operation, PyObject *const *inputs, PyObject *out);

/* Returns a row-major copy of an operand, converted to `dtype` if the operand has another dtype. */
lw_tensor *lw_cast(const lw_operand *operand, int dtype);
/* Assigns `source`, broadcast and cast, to the elements of `target`. Returns -1 with an error set on failure. */
int lw_copy_into(lw_tensor *target, lw_operand *source);

/* The backend that runs a call. `committed` is 1 if the user chose that backend, by placing an operand or by
 * use_backend(). lw_resolve_place() takes the backend on which the user placed operands. If there are several, it takes
 * the one of lowest priority, the last in lw_backend; inside strict_backends(), it raises BackendError. Without such
 * operands, it takes the current backend. It fails for a GPU backend. */
typedef struct lw_place {
    int backend;
    int committed;
} lw_place;
lw_outcome lw_resolve_place(const lw_operand *operands, int count, lw_place *place);

/* Computes the shape to which the operands broadcast, skipping operands whose data is NULL. Returns the number of
 * dimensions, or -1 with ShapeError set. */
int lw_broadcast_shape(const lw_operand *operands, int count, int64_t *shape);
/* Fills `layout` from a shape of `ndim` dimensions and the strides of each operand. Drops dimensions of extent 1, and
 * merges two adjacent dimensions if every operand steps through both with a single stride. The last `inner` dimensions
 * merge only with each other. */
void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]);
/* Fills `order` with the axes: first those that are kept, then those that are reduced. Returns the number of reduced
 * axes. */
int lw_order_axes(int ndim, const uint8_t *reduced, int *order);
/* Returns 1, with an error set, if the operation does not accept an axis of this extent. */
int lw_refuse_extent(const lw_operation *operation, int64_t extent);
/* Computes the strides of an operand for a broadcast shape: 0 along each dimension in which its elements repeat. */
void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides);

/* Prepares the output of a call. If `out` is NULL, returns a new tensor. Otherwise returns `out` after checking its
 * dtype and shape, and that it is contiguous, writable and does not overlap with the operands. `out` may, however, be
 * one of the first `in_place` operands itself. Returns a new reference, or NULL with an error set. */
lw_tensor *lw_prepare_output(PyObject *out, int dtype, int ndim, const int64_t *shape, const lw_operand *operands,
                             int count, int in_place, lw_place place);

/* Returns whether the memory ranges of the output and the operand intersect. The ranges may intersect even if the two
 * share no element, because the elements of a strided operand have gaps between them. */
int lw_overlaps(const lw_tensor *out, const lw_operand *operand);

/* Fills one operand for each input, with data NULL if the input is absent, and sets `place`. The caller must release
 * all operands, whatever the outcome. */
lw_outcome lw_read_inputs(const lw_operation *operation, PyObject *const *inputs, lw_operand *operands,
                          lw_place *place);

/* Reads the inputs of a call into operands, passes these to `compute` and releases them. If the extension cannot
 * read an input, passes the whole call to lanewise/dispatch.py instead. `compute` returns a new reference, or NULL with
 * an error set. */
typedef PyObject *lw_compute(const lw_arguments *arguments, lw_operand *operands, lw_place place);
PyObject *lw_call_with_operands(const lw_arguments *arguments, lw_compute *compute);

/* Runs a kernel. Long runs release the GIL, check for Ctrl-C and use several threads. `work` estimates the running
 * time: adding two tensors of `work` elements takes about as long. Returns 0, or -1 with an error set. */
int lw_run(int backend, int kernel, const void *layout, const void *const *inputs, void *const *outputs,
           const lw_scalar *parameters, int64_t work);
/* Runs a kernel on all operands of a call that has one result. Returns `out`. On failure, releases `out` and returns
 * NULL with an error set. */
PyObject *lw_run_into(lw_tensor *out, const lw_operation *operation, lw_place place, int kernel, const void *layout,
                      const lw_operand *operands, const lw_scalar *parameters, int64_t work);

/* Returns whether the caller passed this parameter with a value other than None. */
int lw_has_parameter(const lw_arguments *arguments, const char *name);
