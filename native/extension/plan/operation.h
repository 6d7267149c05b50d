/* What the extension knows about operations. The code generator writes the table of all operations, lw_operations
 * (lanewise_operations.c), from the contracts. */
#pragma once

#include "lanewise.h"
#include "pyabi.h"
#include "visibility.h"

/* The kind of an operation decides which C function handles its calls: see `resolvers` in call.c. */
typedef enum lw_kind {
    LW_KIND_ELEMENTWISE,
    LW_KIND_CAST,
    LW_KIND_REDUCTION,
    LW_KIND_INDEX_REDUCTION,
    LW_KIND_ROWS,
    LW_KIND_MATRIX,
    LW_KIND_WINDOW,
    LW_KIND_ATTENTION,
    LW_KIND_ROTATION,
    LW_KIND_EIGEN,
    LW_KIND_GATHER,
    LW_KIND_SORT,
    LW_KIND_SEARCH,
    LW_KIND_CREATION,
    LW_KIND_VIEW,
    LW_KIND_COMPOSED,
    LW_KIND_COUNT
} lw_kind;

typedef enum lw_parameter_type {
    /* passed to the kernel, in the contract's order */
    LW_PARAMETER_FLOAT,
    LW_PARAMETER_INT,
    LW_PARAMETER_BOOL,
    LW_PARAMETER_CHOICE,
    /* used by the extension itself */
    LW_PARAMETER_AXIS,
    LW_PARAMETER_KEEPDIMS,
    LW_PARAMETER_DTYPE,
    LW_PARAMETER_SHAPE,
    LW_PARAMETER_PAIR,
    LW_PARAMETER_PAIRS
} lw_parameter_type;

typedef struct lw_parameter {
    const char *name;
    lw_parameter_type type;
    uint8_t required;   /* it has no default */
    uint8_t positional; /* it is also accepted by position, after the inputs */
    uint8_t default_is_none;
    lw_scalar default_value;    /* for a choice, its index in `choices`; for a pair, the value of both elements */
    const char *const *choices; /* NULL-terminated, or NULL */
    double low, high;           /* limits of a float or an int, inclusive */
    const char *limits_text;    /* the limits in words, for errors */
} lw_parameter;

/* What an absent input, or None, stands for: LW_REQUIRED makes it an error, LW_ABSENT means that there is no operand,
 * and the others mean the lowest or highest value of the kernel's dtype. */
typedef enum lw_absent { LW_REQUIRED, LW_ABSENT, LW_ABSENT_LOWEST, LW_ABSENT_HIGHEST } lw_absent;

typedef struct lw_input {
    const char *name;
    int8_t dtype; /* an lw_dtype if the contract fixes it; -1 to promote with the other inputs */
    uint8_t absent;
    int8_t ndim;             /* the number of dimensions that the input must have, or -1 for any */
    const char *description; /* the contract's description, for errors about ndim */
} lw_input;

typedef struct lw_operation {
    const char *name;
    lw_kind kind;
    uint8_t input_count;
    uint8_t parameter_count;
    int8_t variant_parameter; /* index of the kernel's parameter whose choice selects a row of `kernels`, or -1 */
    const lw_input *inputs;
    const lw_parameter *parameters;
    /* Indices into lw_kernels, or -1 where there is no kernel. One row per variant (for a cast: per target dtype), one
     * column per promoted dtype. */
    const int16_t (*kernels)[LW_DTYPE_COUNT];
    int8_t results[LW_DTYPE_COUNT]; /* the dtype of the result for each promoted dtype, or -1 */
    uint8_t takes_out;
    uint8_t in_place;       /* `out` may be one of the first `in_place` inputs */
    uint8_t moves;          /* kernels move elements of any dtype by their size */
    uint8_t compares;       /* compares two inputs by value, whatever their dtypes */
    uint8_t narrow;         /* for reductions: the CPU's kernels also reduce integers of 1 and 2 bytes as they are */
    uint8_t takes_number;   /* for LW_KIND_ROWS: a 0-dimensional input is accepted, as one row of one element */
    uint8_t widens;         /* the result of integers is at least as wide as the default integer */
    uint8_t refuses_empty;  /* for reductions: an axis of extent 0 is an error, because no identity exists */
    uint8_t step_flops;     /* arithmetic operations of a step; 0 if they are not counted */
    float step_nanoseconds; /* the time of a step on one thread of the CPU, by the contract */
    /* The reduction whose result is subtracted from integers before they become float32, or NULL. */
    const struct lw_operation *pivot;
} lw_operation;

/* The generated table, indexed by LW_OPERATION_add and so on (lanewise_operations.h). */
LW_HIDDEN const lw_operation lw_operations[];

/* Generated method tables with one stub per operation, ended by a NULL entry. The first table has the functions of
 * the module. The second has the methods of Tensor, whose first input is self. */
LW_HIDDEN PyMethodDef lw_operation_functions[];
LW_HIDDEN PyMethodDef lw_operation_methods[];

/* Calls an operation with the arguments that its stub received. `self` is NULL for a function of the module. */
PyObject *lw_call(const lw_operation *operation, PyObject *self, PyObject *const *arguments, Py_ssize_t argument_count,
                  PyObject *keyword_names);
