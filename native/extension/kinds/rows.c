/* Resolves calls of row operations, such as softmax, whose results depend on all elements of a row. */
#include "plan/plan.h"

/* What a row takes besides its elements, in steps. */
enum { STEPS_OF_ROW = 12 };

/* Checks the weight or bias of a row operation: it must have one value per element of a row. */
static int check_row_operand(const lw_operation *operation, int input, const lw_operand *operand, int64_t row) {
    if (operand->ndim == 1 && operand->shape[0] == row) {
        return 0;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected %s of shape (%lld,), one value per element of a row, got %s",
                     operation->inputs[input].name, (long long)row, lw_shape_text(operand->ndim, operand->shape));
}

/* Returns the axis of the rows, or -1 with an error set. */
static int row_axis(const lw_arguments *arguments, const lw_operand *x) {
    const lw_operation *operation = arguments->operation;
    int parameter = lw_find_parameter(operation, LW_PARAMETER_AXIS);
    PyObject *axis = parameter < 0 ? NULL : arguments->parameters[parameter];
    if (x->ndim == 0 && !operation->takes_number) {
        return lw_refuse(LW_SHAPE_ERROR, "expected a tensor of at least 1 dimension, got a 0-dimensional one");
    }
    if (parameter >= 0 && operation->parameters[parameter].default_is_none) {
        axis = axis == Py_None ? NULL : axis;
        if (!axis && x->ndim > 1) {
            return lw_refuse(LW_AXIS_ERROR,
                             "expected an axis for a tensor of %d dimensions, got none; pass axis=", x->ndim);
        }
    }
    int dimensions = x->ndim ? x->ndim : 1; /* a 0-dimensional tensor is a row of one element */
    return axis ? lw_parse_axis(axis, dimensions) : dimensions - 1;
}

int lw_resolve_rows(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    lw_operand *operands = plan->operands, *x = &operands[0];
    int count = operation->input_count;
    int axis = row_axis(arguments, x);
    if (axis < 0 || lw_choose_kernel(arguments, plan, count) < 0 ||
        lw_parse_kernel_parameters(arguments, plan->parameters) < 0) {
        return -1;
    }
    for (int i = 1; i < count; i++) {
        if (operands[i].data && check_row_operand(operation, i, &operands[i], x->shape[axis]) < 0) {
            return -1;
        }
    }
    plan->steps = lw_set_result_like(plan, x->ndim, x->shape, x, arguments->out ? 0 : 1);
    if (plan->steps <= 0) {
        return (int)plan->steps;
    }
    uint32_t converted = (uint32_t)lw_leave_conversion(plan);
    plan->steps += plan->steps / (x->ndim ? x->shape[axis] : 1) * STEPS_OF_ROW;
    lw_plan_rows(plan, axis);
    plan->layout.converted = converted;
    return 0;
}
