/* Resolves calls of reductions. The axes along which a kernel works come last in the layout. */
#include "plan/plan.h"
#include <stdlib.h>

static int64_t reduced_extent(int ndim, const int64_t *shape, const uint8_t *reduced) {
    int64_t extent = 1;
    for (int axis = 0; axis < ndim; axis++) {
        extent *= reduced[axis] ? shape[axis] : 1;
    }
    return extent;
}

/* The common shape of the inputs, and which of its axes are reduced. */
typedef struct reduction {
    int ndim;
    int64_t shape[LW_MAX_NDIM];
    uint8_t reduced[LW_MAX_NDIM];
} reduction;

/* Fills the layout. The stride of the result is 0 along reduced axes. */
static void fill_reduction_layout(lw_plan *plan, const reduction *r, int keepdims) {
    lw_layout *layout = &plan->layout;
    int count = plan->operation->input_count;
    int order[LW_MAX_NDIM];
    int inner = lw_order_axes(r->ndim, r->reduced, order);
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_INPUTS + 1][LW_MAX_NDIM];
    for (int operand = 0; operand < count; operand++) {
        int64_t own[LW_MAX_NDIM];
        lw_broadcast_strides(&plan->operands[operand], r->ndim, r->shape, own);
        for (int i = 0; i < r->ndim; i++) {
            strides[operand][i] = own[order[i]];
        }
    }
    for (int i = 0; i < r->ndim; i++) {
        shape[i] = r->shape[order[i]];
        strides[count][i] = i >= r->ndim - inner ? 0 : plan->results[0].strides[keepdims ? order[i] : i];
    }
    int is_indexed = plan->operation->kind == LW_KIND_INDEX_REDUCTION; /* by logical order */
    lw_collapse_ordered(layout, r->ndim, inner, !is_indexed, shape, count + 1, strides, 0);
    if (inner == 0) {
        /* Inputs are 0-dimensional, or axis=(). Kernels need an axis to reduce, so append one of extent 1. */
        layout->inner = 1;
        layout->shape[layout->ndim] = 1;
        for (int operand = 0; operand <= count; operand++) {
            layout->strides[operand][layout->ndim] = 0;
        }
        layout->ndim++;
    }
}

/* Returns whether an operand's elements that are closest to each other in memory are reduced together. */
static int reduces_adjacent(const lw_operand *operand, const reduction *r) {
    int64_t strides[LW_MAX_NDIM], closest = INT64_MAX;
    int is_reduced = 0;
    lw_broadcast_strides(operand, r->ndim, r->shape, strides);
    for (int axis = 0; axis < r->ndim; axis++) {
        int64_t stride = llabs(strides[axis]);
        if (r->shape[axis] > 1 && stride <= closest) {
            is_reduced = r->reduced[axis];
            closest = stride;
        }
    }
    return is_reduced;
}

/* Leaves the conversion of inputs to a kernel of a device, or of the CPU, which converts a block at a time. Where
 * adjacent elements are of different results, the CPU does not: it reads them in place there. A narrow operation
 * reduces integers as they are stored instead, and so stores results in their dtype. */
static uint32_t leave_conversions(lw_plan *plan, const reduction *r) {
    uint32_t converted = plan->operation->input_count == 1 ? (uint32_t)lw_leave_conversion(plan) : 0;
    for (int i = 0; i < plan->operation->input_count; i++) {
        lw_operand *operand = &plan->operands[i], stored;
        int is_computed = operand->is_copied && operand->rounding < 0 && operand->source.dtype != operand->dtype;
        if (!is_computed || !lw_is_host(plan->placement.backend) || lw_device_of(operand)) {
            continue;
        }
        lw_stored_operand(operand, &stored);
        int is_own =
            plan->operation->narrow && lw_is_integer(stored.dtype) && lw_item_size(stored.dtype) <= LW_OWN_BYTES;
        if (is_own || reduces_adjacent(&stored, r)) {
            plan->dtype = is_own ? plan->result_dtype : plan->dtype;
            plan->layout.dtypes[plan->operation->input_count] = operand->dtype;
            lw_keep_stored(operand);
            plan->layout.dtypes[i] = operand->dtype;
            converted |= 1u << i;
        }
    }
    return converted;
}

/* Parses the axis argument, or its default. An operation without an axis parameter reduces all axes. */
static int parse_reduction_axes(const lw_arguments *arguments, reduction *r) {
    PyObject *axes = lw_new_axis(arguments);
    int is_wrong = arguments->operation->kind == LW_KIND_INDEX_REDUCTION && axes && lw_is_sequence(axes);
    if (is_wrong) {
        lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected an int or None for axis, got %S; None flattens the tensor",
                 lw_describe(axes));
    }
    int status = axes && !is_wrong ? lw_parse_axes(axes, r->ndim, r->reduced) : -1;
    Py_XDECREF(axes);
    return status;
}

/* Determines the common shape of the inputs, and the reduced axes. Inputs do not broadcast along reduced axes. */
static int resolve_axes(const lw_arguments *arguments, const lw_operand *inputs, reduction *r) {
    const lw_operation *operation = arguments->operation;
    int count = operation->input_count;
    r->ndim = lw_broadcast_shape(inputs, count, r->shape);
    if (r->ndim < 0 || parse_reduction_axes(arguments, r) < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        for (int axis = 0; axis < r->ndim; axis++) {
            int own = axis - (r->ndim - inputs[i].ndim);
            if (r->reduced[axis] && (own < 0 || inputs[i].shape[own] != r->shape[axis])) {
                return lw_refuse(LW_SHAPE_ERROR, "expected shapes that are equal along the reduced axes, got %s and %s",
                                 lw_shape_text(inputs[0].ndim, inputs[0].shape),
                                 lw_shape_text(inputs[count - 1].ndim, inputs[count - 1].shape));
            }
        }
    }
    return 0;
}

/* Sets a result of this shape, which has the order of the first input's axes in memory. */
static __attribute__((noinline)) int64_t set_ordered_result(lw_plan *plan, const reduction *r, int keepdims, int ndim,
                                                            const int64_t *shape) {
    const lw_operand *x = &plan->operands[0];
    int64_t strides[LW_MAX_NDIM];
    lw_operand kept = {.data = x->data, .shape = shape, .strides = strides, .size = 1, .ndim = (int8_t)ndim};
    lw_broadcast_strides(x, r->ndim, r->shape, strides);
    for (int axis = 0, i = 0; axis < r->ndim; axis++) {
        if (!r->reduced[axis] || keepdims) {
            kept.size *= shape[i];
            strides[i++] = strides[axis];
        }
    }
    return lw_set_result_like(plan, ndim, shape, &kept, 1);
}

int lw_resolve_reduction(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    PyObject *keeps = lw_argument_of(arguments, LW_PARAMETER_KEEPDIMS);
    reduction r;
    int keepdims = keeps ? lw_parse_bool("keepdims", keeps) : 0;
    if (keepdims < 0 || lw_parse_kernel_parameters(arguments, plan->parameters) < 0 ||
        resolve_axes(arguments, plan->operands, &r) < 0) {
        return -1;
    }
    int64_t extent = reduced_extent(r.ndim, r.shape, r.reduced);
    if (lw_choose_kernel(arguments, plan, operation->input_count) < 0 || lw_refuse_extent(operation, extent)) {
        return -1;
    }
    int order[LW_MAX_NDIM], is_full = r.ndim == LW_MAX_NDIM && lw_order_axes(r.ndim, r.reduced, order) == 0;
    if (is_full && lw_copy_operand(&plan->operands[0], plan->operands[0].dtype) < 0) {
        return -1; /* the layout needs another dimension, for which the copy leaves room */
    }
    uint32_t converted = is_full ? 0 : leave_conversions(plan, &r);
    int64_t shape[LW_MAX_NDIM];
    int ndim = 0;
    for (int axis = 0; axis < r.ndim; axis++) {
        if (!r.reduced[axis] || keepdims) {
            shape[ndim++] = r.reduced[axis] ? 1 : r.shape[axis];
        }
    }
    int is_ordered = !plan->operands[0].contiguous && !arguments->out;
    int64_t size = is_ordered ? set_ordered_result(plan, &r, keepdims, ndim, shape) : lw_set_result(plan, ndim, shape);
    if (size > 0) {
        plan->steps = size * extent;
        fill_reduction_layout(plan, &r, keepdims);
        plan->layout.converted = converted;
    }
    return size < 0 ? -1 : 0;
}
