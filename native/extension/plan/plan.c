/* What all resolvers share: reading inputs, choosing the placement and the kernel, broadcasting, collapsing
 * dimensions. */
#include "plan/plan.h"
#include "memory/strides.h"
#include "python/python.h"
#include <stdlib.h>
#include <string.h>

lw_placement lw_resolve_placement(const lw_operand *operands, int count) {
    int chosen = -1, gpu = -1; /* chosen by the user; of operands that the user did not place */
    for (int i = 0; i < count; i++) {
        const lw_tensor *tensor = operands[i].tensor;
        if (!operands[i].data || !tensor) {
            continue;
        }
        if (!tensor->committed) {
            gpu = lw_is_host(tensor->backend) ? gpu : tensor->backend;
        } else if (tensor->backend != chosen) {
            if (chosen >= 0 && lw_strict_backends) {
                lw_raise(LW_BACKEND_ERROR,
                         "expected operands on one backend inside strict_backends(), got %s and %s; move one with to()",
                         lw_backend_name(chosen), lw_backend_name(tensor->backend));
                return (lw_placement){-1, 0};
            }
            chosen = tensor->backend > chosen ? tensor->backend : chosen;
        }
    }
    lw_placement placement = chosen >= 0 ? (lw_placement){chosen, 1} : lw_current_placement();
    int backend = !placement.committed && gpu >= 0 ? gpu : placement.backend;
    return (lw_placement){lw_require_open(backend) < 0 ? -1 : backend, placement.committed};
}

/* Lets lw_execute() copy arrays that are not on the device of the plan. */
static int move_operands(lw_plan *plan) {
    if (!lw_has_devices) {
        return 0;
    }
    const lw_device *device = lw_devices[plan->placement.backend];
    for (int i = 0; i < plan->operation->input_count; i++) {
        lw_operand *operand = &plan->operands[i];
        int may_move = operand->data && operand->weakness == LW_STRONG &&
                       (device || (operand->tensor && !lw_is_host(operand->tensor->backend)));
        if (may_move && lw_device_of(operand) != device && lw_copy_operand(operand, operand->dtype) < 0) {
            return -1;
        }
    }
    return 0;
}

static lw_outcome check_ndim(const lw_input *input, const lw_operand *operand) {
    if (operand->ndim == input->ndim) {
        return LW_DONE;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected %s with %d dimension%s, got shape %s; %s: %s", input->name, input->ndim,
                     input->ndim == 1 ? "" : "s", lw_shape_text(operand->ndim, operand->shape), input->name,
                     input->description);
}

lw_outcome lw_begin_plan(const lw_operation *operation, PyObject *const *inputs, const lw_placement *placement,
                         lw_plan *plan) {
    int count = operation->input_count;
    lw_operand *operands = plan->operands;
    lw_outcome outcome = LW_DONE;
    plan->operation = operation;
    plan->result_count = 1;
    plan->is_chained = 0;
    for (int i = 0; i < count; i++) {
        operands[i].data = NULL;
        operands[i].has_view = 0;
        operands[i].owned = NULL;
    }
    for (int i = 0; i < count && outcome == LW_DONE; i++) {
        if (inputs[i]) {
            int ndim = operation->inputs[i].ndim;
            outcome = lw_read_operand(inputs[i], &operands[i]);
            outcome = outcome == LW_DONE && ndim >= 0 ? check_ndim(&operation->inputs[i], &operands[i]) : outcome;
            if (outcome == LW_DONE && operation->kind != LW_KIND_ELEMENTWISE && lw_settle_operand(&operands[i]) < 0) {
                outcome = LW_FAILED; /* others do not wait in chains, and may compute with the address */
            }
        }
    }
    if (outcome == LW_DONE) {
        lw_placement chosen = placement ? *placement : lw_resolve_placement(operands, count);
        /* Member by member: compilers copy a struct as a whole, which stalls if its members were just stored. */
        plan->placement.backend = plan->result_placement.backend = chosen.backend;
        plan->placement.committed = plan->result_placement.committed = chosen.committed;
        outcome = chosen.backend < 0 || move_operands(plan) < 0 ? LW_FAILED : LW_DONE;
    }
    return outcome;
}

int lw_set_kernel(lw_plan *plan, int variant, int dtype) {
    const lw_operation *operation = plan->operation;
    plan->kernel = operation->kernels[variant][dtype];
    plan->dtype = operation->results[lw_read_dtype(operation, dtype)];
    plan->result_dtype = operation->results[dtype];
    return lw_has_kernel(plan) ? 0 : lw_leave_to_cpu(plan);
}

int lw_leave_to_cpu(lw_plan *plan) {
    plan->placement = lw_host_placement();
    return move_operands(plan);
}

/* Returns the dtype of a sum of elements of a dtype: at least as wide as the default integer. */
static int widened(int dtype) {
    if (lw_is_floating(dtype) || (dtype != LW_BOOL && lw_item_size(dtype) >= lw_item_size(lw_default_integer))) {
        return dtype;
    }
    return lw_dtypes[dtype].class != LW_CLASS_UNSIGNED ? lw_default_integer
           : lw_default_integer == LW_INT64            ? LW_UINT64
                                                       : LW_UINT32;
}

/* Returns the dtype that the argument `dtype` names, LW_DTYPE_COUNT without it, or -1 with an error set. */
static int parse_result_dtype(const lw_arguments *arguments) {
    PyObject *dtype = arguments ? lw_argument_of(arguments, LW_PARAMETER_DTYPE) : NULL;
    return dtype && dtype != Py_None ? lw_parse_dtype(dtype) : LW_DTYPE_COUNT;
}

int lw_choose_kernel(const lw_arguments *arguments, lw_plan *plan, int count) {
    const lw_operation *operation = plan->operation;
    int chosen = parse_result_dtype(arguments);
    int promoted = chosen < LW_DTYPE_COUNT ? chosen : lw_promoted_dtype(operation, plan->operands, count);
    if (chosen == LW_DTYPE_COUNT && promoted >= 0 && operation->widens) {
        promoted = widened(promoted);
    }
    int dtype = promoted < 0 ? -1 : lw_kernel_dtype(operation, 0, promoted, plan->operands, count);
    if (dtype < 0) {
        return -1;
    }
    if (chosen < LW_DTYPE_COUNT && dtype != chosen) {
        return lw_refuse(LW_DTYPE_ERROR, "expected a dtype in which %s computes for dtype, got %s; use %s",
                         operation->name, lw_dtype_name(chosen), lw_dtype_name(dtype));
    }
    int read_dtype = lw_read_dtype(operation, dtype);
    for (int i = 0; i < count; i++) {
        if (plan->operands[i].data && lw_promote_operand(&plan->operands[i], dtype, read_dtype) < 0) {
            return -1;
        }
    }
    return lw_set_kernel(plan, 0, dtype);
}

int lw_has_kernel(const lw_plan *plan) {
    const lw_device *device = lw_devices[plan->placement.backend];
    return !device || !device->kernels || device->kernels[plan->kernel];
}

int64_t lw_set_result(lw_plan *plan, int ndim, const int64_t *shape) {
    lw_result *result = &plan->results[0];
    int64_t bytes = lw_checked_row_major(plan->dtype, ndim, shape, result->strides);
    for (int i = 0; i < ndim; i++) {
        result->shape[i] = shape[i];
    }
    result->ndim = (int8_t)ndim;
    result->contiguous = 1;
    return result->size = bytes < 0 ? -1 : lw_items(plan->dtype, bytes);
}

/* Returns whether an operand's elements are in memory in the order of axes; those of a broadcast one do not matter. */
static int has_order(const lw_operand *operand, int ndim, const int64_t *shape, const int *order) {
    if (operand->ndim < ndim || memcmp(operand->shape, shape, sizeof(int64_t) * (size_t)ndim) != 0) {
        return 1;
    }
    int64_t last = INT64_MAX;
    for (int i = 0; i < ndim; i++) {
        int64_t stride = llabs(operand->strides[order[i]]);
        if (shape[order[i]] > 1 && stride > last) {
            return 0;
        }
        last = shape[order[i]] > 1 ? stride : last;
    }
    return 1;
}

int64_t lw_set_result_like(lw_plan *plan, int ndim, const int64_t *shape, const lw_operand *operands, int count) {
    int64_t size = lw_set_result(plan, ndim, shape);
    lw_result *result = &plan->results[0];
    const lw_operand *leader = NULL;
    int order[LW_MAX_NDIM];
    for (int i = 0; i < count && !leader; i++) {
        int is_whole = operands[i].data && operands[i].ndim == ndim && operands[i].size == size;
        leader = is_whole && !operands[i].contiguous ? &operands[i] : NULL;
    }
    if (!leader || !lw_order_by_stride(ndim, shape, leader->strides, order)) {
        return size;
    }
    for (int i = 0; i < count; i++) {
        if (operands[i].data && !has_order(&operands[i], ndim, shape, order)) {
            return size;
        }
    }
    int64_t stride = lw_item_size(plan->dtype);
    for (int i = ndim - 1; i >= 0; i--) {
        result->strides[order[i]] = stride;
        stride *= shape[order[i]];
    }
    result->contiguous = 0;
    return size;
}

int lw_broadcast_shape(const lw_operand *operands, int count, int64_t *shape) {
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        ndim = operands[i].data && operands[i].ndim > ndim ? operands[i].ndim : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int i = 0; i < count; i++) {
        if (!operands[i].data) {
            continue;
        }
        int lead = ndim - operands[i].ndim;
        for (int axis = lead; axis < ndim; axis++) {
            int64_t extent = operands[i].shape[axis - lead];
            if (shape[axis] == 1) {
                shape[axis] = extent;
            } else if (extent != 1 && extent != shape[axis]) {
                return lw_refuse(LW_SHAPE_ERROR,
                                 "expected shapes that broadcast, got %s and %s; extents, compared from the last axis, "
                                 "must be equal or 1",
                                 lw_shape_text(ndim, shape), lw_shape_text(operands[i].ndim, operands[i].shape));
            }
        }
    }
    return ndim;
}

void lw_broadcast_strides(const lw_operand *operand, int ndim, const int64_t *shape, int64_t *strides) {
    int lead = ndim - operand->ndim;
    for (int axis = 0; axis < ndim; axis++) {
        int broadcast = axis < lead || (operand->shape[axis - lead] == 1 && shape[axis] != 1);
        strides[axis] = broadcast ? 0 : operand->strides[axis - lead];
    }
}

int lw_leave_conversion(lw_plan *plan) {
    lw_operand *operand = &plan->operands[0];
    const lw_device *device = lw_devices[plan->placement.backend];
    int is_computed = operand->is_copied && operand->rounding < 0 && lw_item_size(operand->source.dtype) < 4;
    if (!is_computed || !device || !device->reads_stored || lw_device_of(operand) != device ||
        operand->dtype != (lw_is_floating(operand->source.dtype) ? LW_FLOAT32 : LW_INT32)) {
        return 0;
    }
    lw_keep_stored(operand);
    return 1;
}

int lw_is_one_row(const lw_operand *operands, int count, int ndim, const int64_t *shape) {
    for (int i = 0; i < count; i++) {
        if (operands[i].ndim == 0) {
            continue;
        }
        if (!operands[i].contiguous || operands[i].ndim != ndim) {
            return 0;
        }
        for (int axis = 0; axis < ndim && operands[i].shape != shape; axis++) {
            if (operands[i].shape[axis] != shape[axis]) {
                return 0;
            }
        }
    }
    return 1;
}

void lw_plan_elements(lw_plan *plan) {
    const lw_operand *operands = plan->operands;
    const lw_result *result = &plan->results[0];
    lw_layout *layout = &plan->layout;
    int count = plan->operation->input_count;
    plan->steps = result->size;
    if (lw_is_one_row(operands, count, result->ndim, result->shape) && result->contiguous) {
        layout->ndim = 1;
        layout->inner = 0;
        layout->converted = 0;
        layout->shape[0] = result->size;
        for (int i = 0; i < count; i++) {
            layout->strides[i][0] = operands[i].ndim == 0 && result->size != 1 ? 0 : lw_item_size(operands[i].dtype);
        }
        layout->strides[count][0] = lw_item_size(plan->dtype);
        return;
    }
    int64_t strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    for (int i = 0; i < count; i++) {
        lw_broadcast_strides(&operands[i], result->ndim, result->shape, strides[i]);
    }
    memcpy(strides[count], result->strides, sizeof strides[count]);
    lw_collapse_ordered(layout, result->ndim, 0, 0, result->shape, count + 1, strides, count);
}

void lw_plan_rows(lw_plan *plan, int axis) {
    const lw_operand *operands = plan->operands, *x = &operands[0];
    int count = plan->operation->input_count, last = x->ndim - 1;
    int64_t shape[LW_MAX_NDIM], strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    for (int i = 0; i <= last; i++) {
        int source = i == last ? axis : i + (i >= axis);
        shape[i] = x->shape[source];
        strides[0][i] = x->strides[source];
        for (int operand = 1; operand < count; operand++) {
            strides[operand][i] = operands[operand].data && i == last ? operands[operand].strides[0] : 0;
        }
        strides[count][i] = plan->results[0].strides[source];
    }
    lw_collapse_ordered(&plan->layout, x->ndim, 1, 0, shape, count + 1, strides, 0);
}

int lw_refuse_extent(const lw_operation *operation, int64_t extent) {
    if (extent == 0 && operation->refuses_empty) {
        lw_raise(LW_SHAPE_ERROR,
                 "expected an axis with at least one element, got an empty one; check the size before the call");
        return 1;
    }
    if (extent > INT32_MAX && (operation->kind == LW_KIND_INDEX_REDUCTION || operation->kind == LW_KIND_SORT)) {
        lw_raise(LW_SHAPE_ERROR, "expected an axis of at most 2147483647 elements, got %lld; split it",
                 (long long)extent);
        return 1;
    }
    return 0;
}

int64_t lw_moved_bytes(const lw_plan *plan) {
    int64_t bytes = 0;
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        int64_t elements = operand->size < plan->steps ? operand->size : plan->steps;
        bytes += operand->data ? elements * lw_item_size(operand->dtype) : 0;
    }
    for (int i = 0; i < plan->result_count; i++) {
        bytes += plan->results[i].size * lw_item_size(plan->dtype);
    }
    return bytes;
}
