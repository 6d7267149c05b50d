/* What the extension knows of an operation: derived from its contract by the generator (lanewise_operations.c). */
#pragma once

#include "lanewise.h"
#include "pyabi.h"
#include "visibility.h"

/* One call_<kind>() of call.h resolves all operations of a kind. */
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

typedef enum lw_complexity { LW_LOW, LW_MEDIUM, LW_HIGH, LW_COMPLEXITY_COUNT } lw_complexity;

typedef enum lw_parameter_type {
    /* handed to the kernel, in the contract's order */
    LW_PARAMETER_FLOAT,
    LW_PARAMETER_INT,
    LW_PARAMETER_BOOL,
    LW_PARAMETER_CHOICE,
    /* consumed by the host */
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
    uint8_t required;   /* no default */
    uint8_t positional; /* may also be given by position, after the inputs */
    uint8_t default_is_none;
    lw_scalar default_value;    /* a choice: its position in choices; a pair: both halves equal */
    const char *const *choices; /* NULL-terminated, or NULL */
    double low, high;           /* of a float or an int: between which numbers it must be */
    const char *wanted;         /* in words */
} lw_parameter;

/* What stands for an optional input that is None. */
typedef enum lw_absent { LW_REQUIRED, LW_ABSENT, LW_ABSENT_LOWEST, LW_ABSENT_HIGHEST } lw_absent;

typedef struct lw_input {
    const char *name;
    int8_t dtype; /* an lw_dtype where the contract fixes it, -1 where the inputs share the computed one */
    uint8_t absent;
    int8_t ndim;        /* that it must have, or -1 */
    const char *wanted; /* where there is an ndim: the contract's words for what it must be */
} lw_input;

typedef struct lw_operation {
    const char *name;
    lw_kind kind;
    lw_complexity complexity;
    uint8_t input_count;
    uint8_t parameter_count;
    int8_t variant_parameter; /* the parameter whose choice selects the kernels, or -1 */
    const lw_input *inputs;
    const lw_parameter *parameters;
    /* Per variant (one without variants, LW_DTYPE_COUNT for a cast: the target dtype) and computed dtype: the
     * position in lw_kernels, or -1 where there is no such kernel. */
    const int16_t (*kernels)[LW_DTYPE_COUNT];
    int8_t results[LW_DTYPE_COUNT]; /* result dtype per computed dtype, or -1 */
    uint8_t takes_out;
    uint8_t in_place;      /* so many inputs, from the first on, may be `out` */
    uint8_t takes_number;  /* rows: of an input without dimensions, one of its own */
    uint8_t refuses_empty; /* reductions and rows of nothing are an error: there is no identity */
} lw_operation;

/* The generated table. LW_OPERATION_add and so on are its positions (lanewise_operations.h). */
LW_HIDDEN const lw_operation lw_operations[];

/* Generated method tables, one stub an operation: functions of the module and methods of Tensor (where the first
 * input is self). Both end with a NULL entry. */
LW_HIDDEN PyMethodDef lw_operation_functions[];
LW_HIDDEN PyMethodDef lw_operation_methods[];

/* What the stubs call. `self` is NULL for a function of the module. */
PyObject *lw_call(const lw_operation *operation, PyObject *self, PyObject *const *arguments, Py_ssize_t argument_count,
                  PyObject *keyword_names);
