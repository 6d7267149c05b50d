/* Handles calls of operations: matches the arguments with the inputs and parameters of the contract, then resolves them
 * to a plan and executes it. */
#include "call/call.h"
#include "call/execute.h"
#include "call/offload.h"
#include "lanewise_operations.h"
#include "plan/cost.h"
#include "python/module.h"
#include "python/python.h"
#include <string.h>

static lw_resolver *const resolvers[LW_KIND_COUNT] = {
    [LW_KIND_ELEMENTWISE] = lw_resolve_elementwise,
    [LW_KIND_REDUCTION] = lw_resolve_reduction,
    [LW_KIND_INDEX_REDUCTION] = lw_resolve_reduction,
    [LW_KIND_ROWS] = lw_resolve_rows,
    [LW_KIND_MATRIX] = lw_resolve_matrix,
    [LW_KIND_WINDOW] = lw_resolve_window,
    [LW_KIND_ATTENTION] = lw_resolve_attention,
    [LW_KIND_ROTATION] = lw_resolve_rotation,
    [LW_KIND_EIGEN] = lw_resolve_eigen,
    [LW_KIND_GATHER] = lw_resolve_gather,
    [LW_KIND_SORT] = lw_resolve_sort,
    [LW_KIND_SEARCH] = lw_resolve_search,
};

/* Passes the original call to lanewise/dispatch.py and returns its result. */
static PyObject *call_python(const lw_arguments *arguments) {
    int first = arguments->self ? 1 : 0;
    PyObject *positional = PyTuple_New(arguments->positional_count + first);
    PyObject *keywords = positional ? PyDict_New() : NULL;
    PyObject *result = NULL;
    if (!keywords) {
        goto done;
    }
    if (first) {
        Py_INCREF(arguments->self);
        PyTuple_SetItem(positional, 0, arguments->self);
    }
    for (Py_ssize_t i = 0; i < arguments->positional_count; i++) {
        Py_INCREF(arguments->positional[i]);
        PyTuple_SetItem(positional, i + first, arguments->positional[i]);
    }
    Py_ssize_t keyword_count = arguments->keyword_names ? PyTuple_Size(arguments->keyword_names) : 0;
    for (Py_ssize_t i = 0; i < keyword_count; i++) {
        PyObject *value = arguments->positional[arguments->positional_count + i];
        if (PyDict_SetItem(keywords, PyTuple_GetItem(arguments->keyword_names, i), value) < 0) {
            goto done;
        }
    }
    result = lw_call_hook("dispatch", arguments->operation->name, positional, keywords, NULL);
done:
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* Runs a call that is planned for the host on a GPU. Returns 0, without an error set, if the CPU has to run it, because
 * the GPU lacks the kernel or fails. */
static __attribute__((noinline)) int call_offloaded(const lw_arguments *arguments, int gpu, const lw_plan *host,
                                                    PyObject **result) {
    if (arguments->out) { /* checked here, because the GPU's copies of the inputs do not overlap with it */
        PyObject *out = (PyObject *)lw_check_out(host, arguments->out);
        if (!out) {
            return 1;
        }
        Py_DECREF(out);
    }
    lw_plan plan;
    lw_placement placement = {gpu, 0};
    lw_outcome outcome = lw_begin_plan(arguments->operation, arguments->inputs, &placement, &plan);
    int is_resolved = outcome == LW_DONE && resolvers[arguments->operation->kind](arguments, &plan) == 0;
    if (is_resolved && plan.placement.backend == gpu) { /* or else the GPU lacks the kernel */
        plan.result_placement = host->result_placement;
        *result = lw_execute(&plan, arguments->out);
    }
    lw_end_plan(&plan);
    int is_done = *result || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)); /* as after Ctrl-C */
    if (!is_done && PyErr_Occurred()) {
        lw_give_up_offload(gpu);
    }
    return is_done;
}

static PyObject *handle(const lw_arguments *arguments);

/* Whether the operation difference takes integers of a dtype. */
static int is_shifted(int dtype) { return lw_operations[LW_OPERATION_difference].kernels[0][dtype] >= 0; }

/* Returns the first input of an operation that has a pivot, an array of this integer dtype, minus the pivot, as floats.
 * The operation gives the same results for it, but its elements are rounded after the subtraction. */
static PyObject *subtract_pivot(const lw_arguments *arguments, int dtype) {
    const lw_operation *reduction = arguments->operation->pivot;
    PyObject *axis = lw_new_axis(arguments), *x = arguments->inputs[0];
    PyObject *parameters[LW_MAX_PARAMETERS] = {axis, Py_True}; /* axis and keepdims */
    lw_arguments reduces = {.operation = reduction, .inputs = &x, .parameters = parameters};
    lw_tensor *found = axis ? (lw_tensor *)handle(&reduces) : NULL;
    lw_tensor *pivot = found ? lw_cast_tensor(found, dtype) : NULL;
    PyObject *const inputs[] = {x, (PyObject *)pivot};
    PyObject *difference = pivot ? lw_call_inputs(&lw_operations[LW_OPERATION_difference], inputs, NULL) : NULL;
    Py_XDECREF(axis);
    Py_XDECREF((PyObject *)found);
    Py_XDECREF((PyObject *)pivot);
    return difference;
}

static __attribute__((noinline)) PyObject *call_without_pivot(const lw_arguments *arguments, int dtype) {
    PyObject *inputs[LW_MAX_INPUTS];
    memcpy(inputs, arguments->inputs, sizeof *inputs * arguments->operation->input_count);
    lw_arguments call = *arguments;
    call.inputs = inputs;
    inputs[0] = subtract_pivot(arguments, dtype);
    PyObject *result = inputs[0] ? handle(&call) : NULL;
    Py_XDECREF(inputs[0]);
    return result;
}

/* Returns whether an operation that subtracts elements gets integers, which would be rounded to floats first. */
static int needs_pivot(const lw_plan *plan) {
    const lw_operand *x = &plan->operands[0];
    return plan->operation->pivot && x->weakness == LW_STRONG && is_shifted(x->dtype) && x->size > 0 &&
           x->ndim > 0; /* a number alone, such as a row of one element, is its own pivot */
}

/* Returns whether no dtype includes integers of 64 bits and another dtype: one of floats, or if these are unsigned, one
 * of signed integers. */
static int exceeds(int integers, int other) {
    return lw_is_integer(integers) && lw_item_size(integers) == 8 &&
           (lw_is_floating(other) || lw_promote(integers, other) < 0);
}

/* Returns whether an operation compares arrays of two dtypes that no dtype includes. */
static int compares_beyond_dtypes(const lw_plan *plan) {
    const lw_operand *x1 = &plan->operands[0], *x2 = &plan->operands[1];
    return plan->operation->compares && x1->weakness == LW_STRONG && x2->weakness == LW_STRONG &&
           (exceeds(x1->dtype, x2->dtype) || exceeds(x2->dtype, x1->dtype)) &&
           lw_is_numpy_scalar(x1) == lw_is_numpy_scalar(x2); /* otherwise, one becomes weak */
}

static lw_outcome call_planned(const lw_arguments *arguments, PyObject **result) {
    lw_plan plan;
    lw_outcome outcome = lw_begin_plan(arguments->operation, arguments->inputs, NULL, &plan);
    if (outcome == LW_DONE && needs_pivot(&plan)) {
        *result = call_without_pivot(arguments, plan.operands[0].dtype);
    } else if (outcome == LW_DONE && compares_beyond_dtypes(&plan)) {
        *result = lw_call_hook("compare", arguments->operation->name, arguments->inputs[0], arguments->inputs[1],
                               arguments->out);
    } else if (outcome == LW_DONE && resolvers[arguments->operation->kind](arguments, &plan) == 0) {
        int gpu = lw_offloads ? lw_offload_backend(&plan) : -1;
        if (gpu != LW_OFFLOAD_INTERRUPTED && (gpu < 0 || !call_offloaded(arguments, gpu, &plan, result))) {
            *result = lw_execute(&plan, arguments->out);
        }
    }
    lw_end_plan(&plan);
    return outcome;
}

static PyObject *handle(const lw_arguments *arguments) {
    PyObject *result = NULL;
    lw_outcome outcome = LW_NEEDS_PYTHON;
    switch (arguments->operation->kind) {
    case LW_KIND_CREATION:
    case LW_KIND_COMPOSED:
        break;
    case LW_KIND_CAST:
        outcome = lw_call_cast(arguments, &result);
        break;
    case LW_KIND_VIEW:
        outcome = lw_call_view(arguments, &result);
        break;
    case LW_KIND_ELEMENTWISE:
        if (lw_call_uniform(arguments, &result)) {
            return result;
        }
        /* fall through */
    default:
        outcome = call_planned(arguments, &result);
    }
    return outcome == LW_NEEDS_PYTHON ? call_python(arguments) : result;
}

/* The arguments of one call, assigned to inputs and parameters; NULL if absent. */
typedef struct collected {
    const lw_operation *operation;
    PyObject *inputs[LW_MAX_OPERANDS];
    PyObject *parameters[LW_MAX_PARAMETERS];
    PyObject *out;
} collected;

/* Returns where an argument of this name is stored, or NULL. */
static PyObject **find_slot(collected *arguments, PyObject *name) {
    const lw_operation *operation = arguments->operation;
    for (int i = 0; i < operation->parameter_count; i++) {
        if (PyUnicode_CompareWithASCIIString(name, operation->parameters[i].name) == 0) {
            return &arguments->parameters[i];
        }
    }
    for (int i = 0; i < operation->input_count; i++) {
        if (PyUnicode_CompareWithASCIIString(name, operation->inputs[i].name) == 0) {
            return &arguments->inputs[i];
        }
    }
    return NULL;
}

/* Stores a keyword argument as an input, a parameter or `out`. Returns -1 with an error set on failure. */
static int store_keyword(collected *arguments, PyObject *name, PyObject *value) {
    PyObject **slot = find_slot(arguments, name);
    if (slot && *slot) {
        return lw_refuse(LW_ARGUMENT_TYPE_ERROR, "expected each argument once, got '%U' twice", name);
    }
    if (slot) {
        *slot = value;
    } else if (arguments->operation->takes_out && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        arguments->out = value == Py_None ? NULL : value;
    } else { /* if `name` is another library's name for an argument, the hook's error gives Lanewise's name */
        Py_XDECREF(lw_call_hook("refuse_keyword", arguments->operation->name, name, NULL, NULL));
        return -1;
    }
    return 0;
}

/* Stores a positional argument: inputs come first, then the parameters that the contract accepts by position. Returns
 * -1, without an error set, if the operation accepts no argument at this position. */
static int store_positional(collected *arguments, int position, PyObject *value) {
    const lw_operation *operation = arguments->operation;
    if (position < operation->input_count) {
        arguments->inputs[position] = value;
        return 0;
    }
    int parameter = position - operation->input_count;
    if (parameter < operation->parameter_count && operation->parameters[parameter].positional) {
        arguments->parameters[parameter] = value;
        return 0;
    }
    return -1;
}

/* Returns whether the caller passed separate ints to a view operation that takes one tuple, as in reshape(x, 2, 6). */
static int has_loose_ints(const lw_operation *operation, int given, PyObject *const *values, Py_ssize_t count) {
    int is_loose = operation->kind == LW_KIND_VIEW && operation->parameter_count == 1 && count > given;
    for (Py_ssize_t i = operation->input_count - given; is_loose && i < count; i++) {
        is_loose = lw_is_int(values[i]);
    }
    return is_loose;
}

/* Raises the error for a call with more positional arguments than the operation accepts. `given` is the number of
 * inputs that are not among the positional arguments: 1 for a method, whose first input is self. */
static __attribute__((noinline)) void refuse_surplus(const lw_operation *operation, int given, PyObject *const *values,
                                                     Py_ssize_t count) {
    if (has_loose_ints(operation, given, values, count)) {
        PyObject *ints = PyUnicode_FromString("");
        for (Py_ssize_t i = operation->input_count - given; ints && i < count; i++) {
            PyObject *longer =
                PyUnicode_FromFormat("%U%s%S", ints, i > operation->input_count - given ? ", " : "", values[i]);
            Py_DECREF(ints);
            ints = longer;
        }
        if (ints) {
            lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected the %s as one argument, got %U; write %s(x, (%U))",
                     operation->parameters[0].name, ints, operation->name, ints);
            Py_DECREF(ints);
        }
        return;
    }
    if (strcmp(operation->name, "round") == 0) {
        PyObject *name = PyUnicode_FromString("decimals"); /* NumPy's name of the second argument in round(x, 1) */
        Py_XDECREF(name ? lw_call_hook("refuse_keyword", operation->name, name, NULL, NULL) : NULL);
        Py_XDECREF(name);
        return;
    }
    int allowed = operation->input_count;
    for (int i = 0; i < operation->parameter_count && operation->parameters[i].positional; i++) {
        allowed++;
    }
    lw_raise(LW_ARGUMENT_TYPE_ERROR,
             "expected at most %d positional argument%s, got %zd; pass the others by name, see help(lw.%s)",
             allowed - given, allowed - given == 1 ? "" : "s", count, operation->name);
}

/* Checks that no required argument is missing, and no required input is None. Sets optional inputs that are None to
 * NULL. */
static int check_required(collected *arguments) {
    const lw_operation *operation = arguments->operation;
    for (int i = 0; i < operation->input_count; i++) {
        const lw_input *input = &operation->inputs[i];
        int is_none = arguments->inputs[i] == Py_None;
        if (input->absent != LW_REQUIRED) {
            arguments->inputs[i] = is_none ? NULL : arguments->inputs[i];
        } else if (!arguments->inputs[i] || is_none) {
            const char *advice = "";
            if (operation == &lw_operations[LW_OPERATION_where] && arguments->inputs[0] && !is_none) {
                advice = "; for the indices of true elements, use nonzero(condition)";
            }
            return lw_refuse(LW_ARGUMENT_TYPE_ERROR,
                             is_none ? "expected a tensor, an array, a list or a number for %s, got None"
                                     : "expected an argument for %s, got none%s",
                             input->name, advice);
        }
    }
    for (int i = 0; i < operation->parameter_count; i++) {
        if (!arguments->parameters[i] && operation->parameters[i].required) {
            return lw_refuse(LW_ARGUMENT_TYPE_ERROR, "expected an argument for %s, got none",
                             operation->parameters[i].name);
        }
    }
    return 0;
}

/* Returns whether a method's positional ints stand for one tuple, as NumPy allows in t.reshape(2, 3). */
static int packs_positional(const lw_operation *operation, const PyObject *self, PyObject *const *positional,
                            Py_ssize_t count) {
    return self && count > 1 && operation->kind == LW_KIND_VIEW && operation->input_count == 1 &&
           operation->parameter_count == 1 && PyIndex_Check(positional[0]);
}

static PyObject *call_packed(const lw_operation *operation, PyObject *self, PyObject *const *positional,
                             Py_ssize_t count) {
    PyObject *packed = PyTuple_New(count);
    for (Py_ssize_t i = 0; packed && i < count; i++) {
        Py_INCREF(positional[i]);
        PyTuple_SetItem(packed, i, positional[i]);
    }
    PyObject *result = packed ? lw_call(operation, self, &packed, 1, NULL) : NULL;
    Py_XDECREF(packed);
    return result;
}

static PyObject *call(const lw_operation *operation, PyObject *self, PyObject *const *positional, Py_ssize_t count,
                      PyObject *keyword_names) {
    collected collected;
    lw_arguments arguments = {.operation = operation,
                              .inputs = collected.inputs,
                              .parameters = collected.parameters,
                              .self = self,
                              .positional = positional,
                              .positional_count = count,
                              .keyword_names = keyword_names};
    if (operation->kind == LW_KIND_CREATION || operation->kind == LW_KIND_COMPOSED) {
        PyObject *result = lw_call_composed(&arguments);
        return result || PyErr_Occurred() ? result : call_python(&arguments);
    }
    if (packs_positional(operation, self, positional, count)) {
        return call_packed(operation, self, positional, count);
    }
    collected.operation = operation;
    collected.out = NULL;
    for (int i = 0; i < operation->input_count; i++) {
        collected.inputs[i] = NULL;
    }
    for (int i = 0; i < operation->parameter_count; i++) {
        collected.parameters[i] = NULL;
    }
    int first = self != NULL;
    if (self) {
        collected.inputs[0] = self;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (store_positional(&collected, (int)i + first, positional[i]) < 0) {
            refuse_surplus(operation, first, positional, count);
            return NULL;
        }
    }
    Py_ssize_t keyword_count = keyword_names ? PyTuple_Size(keyword_names) : 0;
    for (Py_ssize_t i = 0; i < keyword_count; i++) {
        if (store_keyword(&collected, PyTuple_GetItem(keyword_names, i), positional[count + i]) < 0) {
            return NULL;
        }
    }
    if (check_required(&collected) < 0) {
        return NULL;
    }
    arguments.out = collected.out;
    return handle(&arguments);
}

PyObject *lw_call(const lw_operation *operation, PyObject *self, PyObject *const *positional, Py_ssize_t count,
                  PyObject *keyword_names) {
    return lw_named(operation->name, call(operation, self, positional, count, keyword_names));
}

PyObject *lw_call_inputs(const lw_operation *operation, PyObject *const *inputs, PyObject *out) {
    static PyObject *const defaults[LW_MAX_PARAMETERS];
    lw_arguments arguments = {.operation = operation,
                              .inputs = inputs,
                              .parameters = defaults,
                              .out = out,
                              .positional = inputs,
                              .positional_count = operation->input_count};
    return handle(&arguments);
}

/* shifted(x, axis): returns x, but integers minus a number near their mean along the axis, as floats: what operations
 * that are composed in Python, such as cov, start from. */
static PyObject *shifted(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !lw_is_tensor(arguments[0])) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (x, axis), with a tensor");
    }
    const lw_tensor *x = (const lw_tensor *)arguments[0];
    PyObject *parameters[LW_MAX_PARAMETERS] = {arguments[1]};
    lw_arguments call = {.operation = &lw_operations[LW_OPERATION_var], .inputs = arguments, .parameters = parameters};
    return is_shifted(x->dtype) && x->size ? subtract_pivot(&call, x->dtype) : Py_NewRef(arguments[0]);
}

/* number_of(operation, parameter, value): checks the value of a float parameter of an operation that is composed in
 * Python, and returns it. */
static PyObject *number_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int are_strings = count == 3 && lw_is_string(arguments[0]) && lw_is_string(arguments[1]);
    const char *name = are_strings ? PyUnicode_AsUTF8AndSize(arguments[0], NULL) : NULL;
    const lw_operation *operation = name ? lw_find_operation(name) : NULL;
    for (int i = 0; operation && i < operation->parameter_count; i++) {
        const lw_parameter *parameter = &operation->parameters[i];
        if (parameter->type == LW_PARAMETER_FLOAT &&
            PyUnicode_CompareWithASCIIString(arguments[1], parameter->name) == 0) {
            lw_scalar scalar;
            return lw_parse_parameter(parameter, arguments[2], &scalar) < 0 ? NULL : PyFloat_FromDouble(scalar.f);
        }
    }
    return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (operation, parameter, value), with a parameter that is a float");
}

/* expected_times(operation, *inputs): returns how many nanoseconds a call with default parameters is expected to take:
 * its kernel on one thread, according to the contract, and on this machine; and if AUTO may move it to a GPU, the call
 * on the CPU, and on the GPU. */
static PyObject *expected_times(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    static PyObject *const defaults[LW_MAX_PARAMETERS];
    const char *name = count > 0 && lw_is_string(arguments[0]) ? PyUnicode_AsUTF8AndSize(arguments[0], NULL) : NULL;
    const lw_operation *operation = name ? lw_find_operation(name) : NULL;
    if (!operation || count - 1 > operation->input_count || !resolvers[operation->kind]) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (operation, *inputs), with an operation that has kernels");
    }
    PyObject *inputs[LW_MAX_INPUTS] = {NULL};
    for (Py_ssize_t i = 1; i < count; i++) {
        inputs[i - 1] = arguments[i];
    }
    lw_arguments call = {.operation = operation, .inputs = inputs, .parameters = defaults};
    lw_plan plan;
    lw_times times;
    PyObject *result = NULL;
    if (lw_begin_plan(operation, inputs, NULL, &plan) == LW_DONE && resolvers[operation->kind](&call, &plan) == 0) {
        int64_t bytes = lw_moved_bytes(&plan);
        int known = lw_offload_times(&plan, &times) && lw_offloads ? 4 : 2;
        const double values[] = {
            lw_nominal_nanoseconds(operation, plan.steps, bytes),
            lw_expected_nanoseconds(operation, plan.placement.backend, plan.steps, bytes),
            times.host,
            times.gpu,
        };
        result = PyTuple_New(known);
        for (int i = 0; result && i < known; i++) {
            PyTuple_SetItem(result, i, PyFloat_FromDouble(values[i]));
        }
    }
    lw_end_plan(&plan);
    return result;
}

LW_NAMED_FAST("number_of", number_of)
LW_NAMED_FAST("expected_times", expected_times)
LW_NAMED_FAST("shifted", shifted)

PyMethodDef lw_call_functions[] = {
    {"expected_times", (PyCFunction)(void *)named_expected_times, METH_FASTCALL, NULL},
    {"number_of", (PyCFunction)(void *)named_number_of, METH_FASTCALL, NULL},
    {"shifted", (PyCFunction)(void *)named_shifted, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
