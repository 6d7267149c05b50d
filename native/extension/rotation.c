/* Handles calls of rope, the rotary position embedding. The last two dimensions of the layout are the axis of positions
 * and the last axis of x. */
#include "arguments.h"

enum { SCALING = 3, NTK = 1 }; /* index of the parameter `scaling`, and of its choice 'ntk' */

/* Returns the axis of positions, or -1 with an error set. */
static int position_axis(const lw_arguments *arguments, const lw_operand *x) {
    const lw_operation *operation = arguments->operation;
    char got[LW_SHAPE_TEXT];
    if (x->ndim < 2 || x->shape[x->ndim - 1] % 2) {
        PyErr_Format(lw_error_class(LW_SHAPE_ERROR), "expected x of shape (..., length, d) with an even d, got %s",
                     lw_shape_text(got, x->ndim, x->shape));
        return -1;
    }
    PyObject *object = arguments->parameters[lw_find_parameter(operation, LW_PARAMETER_AXIS)];
    int axis = object ? lw_parse_axis(object, x->ndim) : x->ndim - 2;
    if (axis == x->ndim - 1) {
        PyErr_Format(lw_error_class(LW_AXIS_ERROR),
                     "expected axis to name any axis but the last, which holds the elements to rotate, got %S",
                     lw_describe(object));
        return -1;
    }
    return axis;
}

static PyObject *compute_rotation(const lw_arguments *arguments, lw_operand *x, lw_place place) {
    const lw_operation *operation = arguments->operation;
    lw_scalar parameters[LW_MAX_PARAMETERS];
    if (lw_parse_kernel_parameters(arguments, parameters) < 0) {
        return NULL;
    }
    int dtype = lw_kernel_dtype(operation, 0, lw_computed_dtype(operation, x, 1), x, 1);
    if (dtype < 0 || lw_cast_operand(x, dtype) < 0) {
        return NULL;
    }
    int axis = position_axis(arguments, x);
    if (axis < 0) {
        return NULL;
    }
    if (parameters[SCALING].i == NTK && x->shape[x->ndim - 1] == 2) {
        return PyErr_Format(lw_error_class(LW_SHAPE_ERROR),
                            "expected x of shape (..., length, d) with d > 2 for scaling='ntk', got d = 2, for which "
                            "d / (d - 2) is undefined; use scaling='linear'");
    }
    lw_tensor *out = lw_prepare_output(arguments->out, operation->results[dtype], x->ndim, x->shape, x, 1,
                                       operation->in_place, place);
    if (!out || out->size == 0) {
        return (PyObject *)out;
    }
    int order[LW_MAX_NDIM], count = 0;
    for (int i = 0; i < x->ndim - 1; i++) {
        if (i != axis) {
            order[count++] = i;
        }
    }
    order[count++] = axis;
    order[count++] = x->ndim - 1;
    lw_layout layout = {.ndim = count, .inner = 2};
    for (int i = 0; i < count; i++) {
        layout.shape[i] = x->shape[order[i]];
        layout.strides[0][i] = x->strides[order[i]];
        layout.strides[1][i] = out->strides[order[i]];
    }
    return lw_run_into(out, operation, place, operation->kernels[0][dtype], &layout, x, parameters, out->size * 2);
}

PyObject *lw_call_rotation(const lw_arguments *arguments) { return lw_call_with_operands(arguments, compute_rotation); }
