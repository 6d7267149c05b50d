/* Resolves calls of eigh and eigvalsh. The last two dimensions of the input hold symmetric matrices. */
#include "lanewise_operations.h"
#include "plan/plan.h"
#include <string.h>

static int check_square(const lw_operand *x) {
    if (x->ndim >= 2 && x->shape[x->ndim - 1] == x->shape[x->ndim - 2]) {
        return 0;
    }
    return lw_refuse(LW_SHAPE_ERROR, "expected square matrices (..., n, n), got shape %s",
                     lw_shape_text(x->ndim, x->shape));
}

int lw_resolve_eigen(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operand *x = &plan->operands[0];
    int with_vectors = plan->operation == &lw_operations[LW_OPERATION_eigh];
    if (lw_choose_kernel(arguments, plan, 1) < 0 || check_square(x) < 0) {
        return -1;
    }
    int ndim = x->ndim;
    int64_t n = x->shape[ndim - 1];
    lw_result *results = plan->results;
    if (lw_set_result(plan, ndim, x->shape) < 0) {
        return -1;
    }
    results[1] = results[0]; /* the eigenvectors */
    int64_t size = lw_set_result(plan, ndim - 1, x->shape);
    plan->result_count = (int8_t)(1 + with_vectors);
    plan->steps = size * n * n;
    lw_matrix_layout *layout = &plan->matrix;
    *layout = (lw_matrix_layout){.batch.ndim = ndim - 2, .m = n, .n = n};
    const int64_t *strides[3] = {x->strides, results[0].strides, results[1].strides};
    for (int i = 0; i < 2 + with_vectors; i++) {
        memcpy(layout->batch.strides[i], strides[i], sizeof(int64_t) * (size_t)(ndim - 2));
        layout->row_strides[i] = i == 1 ? 0 : strides[i][ndim - 2];
        layout->column_strides[i] = strides[i][i == 1 ? ndim - 2 : ndim - 1];
    }
    memcpy(layout->batch.shape, x->shape, sizeof(int64_t) * (size_t)(ndim - 2));
    return 0;
}
