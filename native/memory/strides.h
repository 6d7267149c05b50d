/* Computes with shapes and strides, which are in bytes. */
#pragma once

#include "lanewise.h"

/* Fills in the row-major strides of a shape. Returns the size of all elements in bytes, or -1 if an extent is negative
 * or the size overflows. */
int64_t lw_row_major(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
/* Returns whether strides are row-major, which those of extents of 1 do not affect. */
int lw_is_row_major(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size);

/* Fills `layout` from a shape of `ndim` dimensions and the strides of each operand. Drops dimensions of extent 1, and
 * merges two adjacent dimensions if every operand steps through both with a single stride. The last `inner` dimensions
 * merge only with each other. */
void lw_collapse(lw_layout *layout, int ndim, int inner, const int64_t *shape, int operand_count,
                 const int64_t strides[][LW_MAX_NDIM]);
/* Does the same with the dimensions before the inner ones, and if `orders_inner` also the inner ones, in the order in
 * which operand `by` has them in memory. */
void lw_collapse_ordered(lw_layout *layout, int ndim, int inner, int orders_inner, const int64_t *shape,
                         int operand_count, int64_t strides[][LW_MAX_NDIM], int by);
/* Orders axes by the distance of their elements in memory, farthest first; those of extent 1 do not matter.
 * Returns whether their order changes. */
int lw_order_by_stride(int ndim, const int64_t *shape, const int64_t *strides, int *order);
/* Fills `order` with the axes: first those that are kept, then those that are reduced. Returns the number of reduced
 * axes. */
int lw_order_axes(int ndim, const uint8_t *reduced, int *order);
/* Sets `low` and `high` to the range of bytes that an array spans. */
void lw_memory_range(const char *data, int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                     const char **low, const char **high);

/* Computes the strides with which a view of another shape visits the elements in the same order. Returns 0 if no
 * strides do so, which means that a copy is needed. Splits both shapes into the shortest runs of dimensions with equal
 * products. In each run, the old dimensions must be mergeable into one, that is, a single stride must visit all of
 * their elements in order. */
int lw_restride(int old_ndim, const int64_t *old_shape, const int64_t *old_strides, int64_t item_size, int ndim,
                const int64_t *shape, int64_t *strides);
