/* Resolves calls of searchsorted, which finds the positions of values in a sorted one-dimensional tensor. */
#include "call/execute.h"
#include "lanewise_operations.h"

static int check_row(const lw_operand *row) {
    if (row->ndim == 1 && row->shape[0] <= INT32_MAX) {
        return 0;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected x1 of one dimension and at most 2147483647 elements, got shape %s",
                     lw_shape_text(row->ndim, row->shape));
}

static int check_sorter(const lw_operand *row, const lw_operand *sorter) {
    if (check_row(row) < 0) {
        return -1;
    }
    if (sorter->ndim == 1 && sorter->size == row->size) {
        return 0;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected sorter of shape (%lld,), as argsort(x1) returns, got %s",
                     (long long)row->size, lw_shape_text(sorter->ndim, sorter->shape));
}

/* Replaces the row by row[sorter]. */
static int sort_row(lw_operand *row, const lw_operand *sorter, lw_placement placement) {
    static PyObject *const defaults[LW_MAX_PARAMETERS];
    lw_arguments take = {.operation = &lw_operations[LW_OPERATION_take], .parameters = defaults};
    lw_plan plan = {
        .operation = take.operation, .placement = placement, .result_placement = placement, .result_count = 1};
    lw_borrow_operand(row, row->ndim, &plan.operands[0]);
    lw_borrow_operand(sorter, sorter->ndim, &plan.operands[1]);
    PyObject *sorted = lw_resolve_gather(&take, &plan) < 0 ? NULL : lw_execute(&plan, NULL);
    lw_end_plan(&plan);
    if (!sorted) {
        return -1;
    }
    lw_own_operand(row, (lw_tensor *)sorted);
    return 0;
}

int lw_resolve_search(const lw_arguments *arguments, lw_plan *plan) {
    lw_operand *row = &plan->operands[0], *x = &plan->operands[1], *sorter = &plan->operands[2];
    if (sorter->data) {
        if (check_sorter(row, sorter) < 0 || sort_row(row, sorter, plan->placement) < 0) {
            return -1;
        }
        sorter->data = NULL;
    }
    if (check_row(row) < 0 || lw_choose_kernel(arguments, plan, 2) < 0 ||
        lw_parse_kernel_parameters(arguments, plan->parameters + 2) < 0) {
        return -1;
    }
    plan->parameters[0].i = row->shape[0];
    plan->parameters[1].i = row->strides[0];
    int64_t size = lw_set_result(plan, x->ndim, x->shape);
    int64_t strides[4][LW_MAX_NDIM] = {{0}};
    for (int i = 0; i < x->ndim; i++) {
        strides[1][i] = x->strides[i];
        strides[3][i] = plan->results[0].strides[i];
    }
    lw_collapse(&plan->layout, x->ndim, 0, x->shape, 4, (const int64_t (*)[LW_MAX_NDIM])strides);
    plan->steps = size * (64 - __builtin_clzll((unsigned long long)row->shape[0] | 1));
    return size < 0 ? -1 : 0;
}
