/* Resolves calls of rope, the rotary position embedding. The last two dimensions of the layout are the axis of
 * positions and the last axis of x. */
#include "plan/plan.h"

enum { SCALING = 3, NTK = 1 }; /* index of the parameter `scaling`, and of its choice 'ntk' */

/* Returns the axis of positions, or -1 with an error set. */
static int position_axis(const lw_arguments *arguments, const lw_operand *x) {
    if (x->ndim < 2 || x->shape[x->ndim - 1] % 2) {
        return lw_refuse(LW_SHAPE_ERROR, "expected x of shape (..., length, d) with an even d, got %s",
                         lw_shape_text(x->ndim, x->shape));
    }
    PyObject *object = lw_argument_of(arguments, LW_PARAMETER_AXIS);
    int axis = object ? lw_parse_axis(object, x->ndim) : x->ndim - 2;
    if (axis == x->ndim - 1) {
        return lw_refuse(LW_AXIS_ERROR,
                         "expected axis to name any axis but the last, which holds the elements to rotate, got %S",
                         lw_describe(object));
    }
    return axis;
}

int lw_resolve_rotation(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operand *x = &plan->operands[0];
    if (lw_parse_kernel_parameters(arguments, plan->parameters) < 0 || lw_choose_kernel(arguments, plan, 1) < 0) {
        return -1;
    }
    int axis = position_axis(arguments, x);
    if (axis < 0) {
        return -1;
    }
    if (plan->parameters[SCALING].i == NTK && x->shape[x->ndim - 1] == 2) {
        return lw_refuse(LW_SHAPE_ERROR, "expected x of shape (..., length, d) with d > 2 for scaling='ntk', got d = "
                                         "2, for which d / (d - 2) is undefined; use scaling='linear'");
    }
    plan->steps = lw_set_result(plan, x->ndim, x->shape);
    int order[LW_MAX_NDIM], count = 0;
    for (int i = 0; i < x->ndim - 1; i++) {
        if (i != axis) {
            order[count++] = i;
        }
    }
    order[count++] = axis;
    order[count++] = x->ndim - 1;
    lw_layout *layout = &plan->layout;
    *layout = (lw_layout){.ndim = count, .inner = 2};
    for (int i = 0; i < count; i++) {
        layout->shape[i] = x->shape[order[i]];
        layout->strides[0][i] = x->strides[order[i]];
        layout->strides[1][i] = plan->results[0].strides[order[i]];
    }
    return plan->steps < 0 ? -1 : 0;
}
