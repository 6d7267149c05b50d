/* Computes with shapes and strides. */
#include "memory/strides.h"
#include <stdlib.h>

int64_t lw_row_major(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides) {
    int64_t bytes = item_size;
    int empty = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = bytes;
        if (shape[i] == 0) {
            empty = 1; /* no early return: as in NumPy, the product of the other extents must not overflow */
        } else if (shape[i] < 0 || __builtin_mul_overflow(bytes, shape[i], &bytes)) {
            return -1;
        }
    }
    return empty ? 0 : bytes;
}

int lw_is_row_major(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size) {
    int64_t expected = item_size;
    int regular = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 0) {
            return 1;
        }
        if (shape[i] != 1) {
            regular &= strides[i] == expected;
            expected *= shape[i];
        }
    }
    return regular;
}

void lw_memory_range(const char *data, int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                     const char **low, const char **high) {
    *low = data;
    *high = data + item_size;
    for (int i = 0; i < ndim; i++) {
        int64_t reach = (shape[i] - 1) * strides[i];
        *(reach < 0 ? low : high) += reach;
    }
}

/* Returns whether `axis`, whose extent is `extent`, can be merged into `last`, the last dimension of the layout so far:
 * every operand must step through both with a single stride. */
static int merges(const lw_layout *layout, int last, int operand_count, const int64_t strides[][LW_MAX_NDIM], int axis,
                  int64_t extent) {
    for (int i = 0; i < operand_count; i++) {
        if (layout->strides[i][last] != strides[i][axis] * extent) {
            return 0;
        }
    }
    return 1;
}

void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]) {
    int first_inner = ndim - inner;
    int kept = 0;
    int kept_outer = 0;
    for (int axis = 0; axis < ndim; axis++) {
        if (axis == first_inner) {
            kept_outer = kept;
        }
        if (shape[axis] == 1) {
            continue;
        }
        int may_merge = kept > 0 && (axis < first_inner || kept > kept_outer);
        if (may_merge && merges(layout, kept - 1, operand_count, strides, axis, shape[axis])) {
            layout->shape[kept - 1] *= shape[axis];
        } else {
            layout->shape[kept++] = shape[axis];
        }
        for (int i = 0; i < operand_count; i++) {
            layout->strides[i][kept - 1] = strides[i][axis];
        }
    }
    if (first_inner >= ndim) {
        kept_outer = kept;
    }
    if (kept == kept_outer && (inner > 0 || kept == 0)) { /* kernels need at least one dimension */
        layout->shape[kept] = 1;
        for (int i = 0; i < operand_count; i++) {
            layout->strides[i][kept] = 0;
        }
        kept++;
    }
    layout->ndim = kept;
    layout->converted = 0;
    layout->inner = inner > 0 ? kept - kept_outer : 0;
}

int lw_order_by_stride(int ndim, const int64_t *shape, const int64_t *strides, int *order) {
    int is_changed = 0;
    for (int i = 0; i < ndim; i++) {
        int at = i;
        for (int before = i - 1; shape[i] > 1 && before >= 0; before--) {
            int axis = order[before];
            if (shape[axis] > 1 && llabs(strides[axis]) >= llabs(strides[i])) {
                break;
            }
            at = shape[axis] > 1 ? before : at;
        }
        for (int j = i; j > at; j--) {
            order[j] = order[j - 1];
        }
        order[at] = i;
        is_changed |= at != i;
    }
    return is_changed;
}

void lw_collapse_ordered(lw_layout *layout, int ndim, int inner, int orders_inner, const int64_t *shape,
                         int operand_count, int64_t strides[][LW_MAX_NDIM], int by) {
    int order[LW_MAX_NDIM], outer = ndim - inner;
    int64_t ordered_shape[LW_MAX_NDIM], ordered[LW_MAX_OPERANDS][LW_MAX_NDIM];
    lw_order_by_stride(outer, shape, strides[by], order);
    lw_order_by_stride(orders_inner ? inner : 0, shape + outer, strides[by] + outer, order + outer);
    for (int axis = 0; axis < ndim; axis++) {
        int from = axis < outer ? order[axis] : orders_inner ? outer + order[axis] : axis;
        ordered_shape[axis] = shape[from];
        for (int i = 0; i < operand_count; i++) {
            ordered[i][axis] = strides[i][from];
        }
    }
    lw_collapse(layout, ndim, inner, ordered_shape, operand_count, (const int64_t (*)[LW_MAX_NDIM])ordered);
}

int lw_order_axes(int ndim, const uint8_t *reduced, int *order) {
    int position = 0;
    for (int axis = 0; axis < ndim; axis++) {
        if (!reduced[axis]) {
            order[position++] = axis;
        }
    }
    int inner = ndim - position;
    for (int axis = 0; axis < ndim; axis++) {
        if (reduced[axis]) {
            order[position++] = axis;
        }
    }
    return inner;
}

int lw_restride(int old_ndim, const int64_t *old_shape, const int64_t *old_strides, int64_t item_size, int ndim,
                const int64_t *shape, int64_t *strides) {
    int64_t kept_shape[LW_MAX_NDIM], kept_strides[LW_MAX_NDIM]; /* the old dimensions without those of extent 1 */
    int kept = 0;
    for (int i = 0; i < old_ndim; i++) {
        if (old_shape[i] != 1) {
            kept_shape[kept] = old_shape[i];
            kept_strides[kept++] = old_strides[i];
        }
    }
    int old = 0, new = 0;
    while (old < kept && new < ndim) {
        int old_first = old, new_first = new;
        int64_t old_product = kept_shape[old++], new_product = shape[new++];
        while (old_product != new_product) {
            if (new_product < old_product) {
                new_product *= shape[new++];
            } else {
                old_product *= kept_shape[old++];
            }
        }
        for (int i = old_first; i + 1 < old; i++) {
            if (kept_strides[i] != kept_strides[i + 1] * kept_shape[i + 1]) {
                return 0;
            }
        }
        strides[new - 1] = kept_strides[old - 1];
        for (int i = new - 1; i > new_first; i--) {
            strides[i - 1] = strides[i] * shape[i];
        }
    }
    for (; new < ndim; new++) { /* trailing extents of 1 */
        strides[new] = item_size;
    }
    return 1;
}
