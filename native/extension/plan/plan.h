/* Plans: what a call runs, worked out before anything runs. One function per kind of operation resolves the arguments
 * of a call to a plan, and execute.c executes it. */
#pragma once

#include "plan/arguments.h"
#include "plan/operand.h"

enum { LW_MAX_RESULTS = 2 };

/* The shape of a result, and its strides in bytes. */
typedef struct lw_result {
    int64_t size;
    int8_t ndim;
    uint8_t contiguous;
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_NDIM];
} lw_result;

struct lw_plan {
    const lw_operation *operation;
    lw_placement placement;
    lw_placement result_placement; /* differs from `placement` if only the CPU has the kernel */
    int16_t kernel;                /* index in lw_kernels */
    int8_t dtype;                  /* of what the kernel writes */
    int8_t result_dtype;           /* of the results, which lw_execute() converts if it differs from `dtype` */
    int8_t result_count;
    uint8_t is_chained; /* whether the launch may wait in a chain */
    int64_t steps;      /* how often the innermost loop of the kernel runs; contracts/kinds.yaml says what a step is */
    lw_operand operands[LW_MAX_INPUTS];
    lw_result results[LW_MAX_RESULTS];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    union { /* the type depends on the kind */
        lw_layout layout;
        lw_matrix_layout matrix;
        lw_attention_layout attention;
        lw_window_layout window;
    };
};

/* Begins a plan: reads the inputs of a call into operands, whose data is NULL if the input is absent, and chooses the
 * placement of the call, unless `placement` is given. The caller must release all operands, whatever the outcome. */
lw_outcome lw_begin_plan(const lw_operation *operation, PyObject *const *inputs, const lw_placement *placement,
                         lw_plan *plan);
static inline void lw_end_plan(lw_plan *plan) { lw_release_operands(plan->operands, plan->operation->input_count); }

/* A resolver completes a plan that lw_begin_plan() has begun. Returns 0, or -1 with an error set. */
typedef int lw_resolver(const lw_arguments *arguments, lw_plan *plan);
LW_HIDDEN lw_resolver lw_resolve_elementwise, lw_resolve_reduction, lw_resolve_rows, lw_resolve_matrix,
    lw_resolve_window, lw_resolve_attention, lw_resolve_rotation, lw_resolve_eigen, lw_resolve_gather, lw_resolve_sort,
    lw_resolve_search;

/* Chooses the placement of a call: the backend on which the user placed operands. If there are several, takes the one
 * of lowest priority, the last in lw_backend; inside strict_backends(), raises BackendError. Without such operands,
 * takes the backend of use_backend(), then that of a GPU that has an operand, then the default. Sets the backend to -1,
 * and an error, on failure. */
lw_placement lw_resolve_placement(const lw_operand *operands, int count);

/* Chooses the kernel for the dtype to which the first `count` operands promote, or that the argument `dtype` names, and
 * converts these operands to the dtype that it computes in. `arguments` may be NULL. Returns 0, or -1 with an error
 * set. */
int lw_choose_kernel(const lw_arguments *arguments, lw_plan *plan, int count);
/* Sets the kernel for a dtype. `variant` selects a row of operation->kernels. If the device lacks it, moves the call to
 * the CPU, but not its results, so it must be called before strides are used. Returns 0, or -1 with an error set. */
int lw_set_kernel(lw_plan *plan, int variant, int dtype);

/* Moves a call to the CPU, but not its results, before strides are used. Returns 0, or -1 with an error set. */
int lw_leave_to_cpu(lw_plan *plan);

/* Returns whether the plan's backend has its kernel. */
int lw_has_kernel(const lw_plan *plan);

/* Sets the shape of the first result, which is row-major. Returns its size, 0 if there is nothing to compute, or -1
 * with an error set if the size overflows. */
int64_t lw_set_result(lw_plan *plan, int ndim, const int64_t *shape);
/* Does the same, but keeps the order in memory of the operands' axes, if those of this shape agree on one, as NumPy
 * does (order "K"): both x.T and its negative are read and written in one direction. */
int64_t lw_set_result_like(lw_plan *plan, int ndim, const int64_t *shape, const lw_operand *operands, int count);

/* Computes the shape to which the operands broadcast, skipping operands whose data is NULL. Returns the number of
 * dimensions, or -1 with ShapeError set. */
int lw_broadcast_shape(const lw_operand *operands, int count, int64_t *shape);
/* Computes the strides of an operand for a broadcast shape: 0 along each dimension in which its elements repeat. */
void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides);

/* Returns whether each operand is 0-dimensional or a contiguous array of this shape. The kernel may then treat all
 * operands as one row. */
int lw_is_one_row(const lw_operand *operands, int count, int ndim, const int64_t *shape);
/* Fills the layout of a kernel that computes each element of the result from one of each operand. Sets the steps. */
void lw_plan_elements(lw_plan *plan);
/* Fills the layout of a kernel that works on the rows of the first operand along an axis, which comes last. The other
 * operands, if present, have one element for each of a row. */
void lw_plan_rows(lw_plan *plan, int axis);

/* Leaves the conversion of the first operand to the kernel of a device that reads stored dtypes. Returns whether it
 * does. */
int lw_leave_conversion(lw_plan *plan);

/* Returns the bytes that the kernel reads and writes. It reads an element of an operand at most once a step. */
int64_t lw_moved_bytes(const lw_plan *plan);

/* Returns 1, with an error set, if the operation does not accept an axis of this extent. */
int lw_refuse_extent(const lw_operation *operation, int64_t extent);
