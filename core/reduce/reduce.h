/* Reductions: the elements along the last `inner` dimensions of a layout become one value.
 *
 * The reduced elements, in the order of the layout, are cut into blocks of REDUCE_BLOCK. A reducer reduces a block, and
 * a tree whose shape depends only on the number of blocks joins their results. So results are bit-identical on every
 * instruction set and for every number of threads. The host puts the dimensions into the order of memory, unless the
 * result is an index: then those that are reduced keep theirs. */
#pragma once

#include "lanewise.h"
#include "simd/simd.h"

enum {
    REDUCE_BLOCK = 4096,
    REDUCE_MAX_COLUMNS = VF32_LANES > 4 ? 128 : 64, /* adjacent outputs that are reduced together */
    REDUCE_MAX_SIZE = 8                             /* bytes of an element, at most */
};

/* The elements of a block. If the operation has one input, y is x. */
typedef struct reduce_source {
    const char *x, *y;
    int64_t x_stride, y_stride; /* for columns: bytes to the next element of a column */
} reduce_source;

/* The result of reducing some of the elements that one output is computed from. */
typedef union reduced {
    int64_t bits; /* a partial of reduce_block.h, in the first bytes */
    struct {
        int64_t key, index;
    } choice; /* used by index_reduction.h */
    struct {
        double squares, mean, factor;
    } squares; /* used by squares.h and moments.h */
    struct {
        double value, lost;
    } sum; /* used by sum_compensated.h */
} reduced;

/* Which result of some elements, a mask, decides that of all. */
typedef enum reduce_decision { REDUCE_UNDECIDED, REDUCE_DECIDED_BY_TRUE, REDUCE_DECIDED_BY_FALSE } reduce_decision;

/* The functions of a reduction, for one dtype. */
typedef struct reducer {
    int32_t inputs; /* 1, or 2 if each value comes from a pair of elements */
    int32_t size;   /* bytes per element */
    /* Reduces one block of contiguous elements. `start` is the index of the block's first element among all
     * elements that are reduced to the same output. */
    void (*block)(const reduce_source *from, int64_t start, int64_t count, reduced *result);
    /* Reduces one block of each of `columns` <= REDUCE_MAX_COLUMNS adjacent outputs. */
    void (*columns)(const reduce_source *from, int64_t start, int64_t count, int64_t columns, reduced *results);
    /* Joins the result of some elements with that of the elements after them. */
    void (*join)(reduced *left, int64_t left_count, const reduced *right, int64_t right_count);
    /* Computes outputs from their totals, each of `count` elements; `step` is the distance of outputs. */
    void (*finish)(const reduced *totals, int64_t outputs, int64_t count, const lw_scalar *parameters, char *out,
                   int64_t step);
    reduce_decision decision;
    /* Does what `columns` and `finish` do, for blocks that have all the elements of contiguous outputs. NULL if outputs
     * are not partial results as they are. */
    void (*outputs)(const reduce_source *from, int64_t count, int64_t columns, char *out);
    /* For index reductions, whose `block` leaves the index of the block: replaces it by the index of the element. */
    void (*place)(const reduce_source *from, int64_t start, int64_t count, reduced *result);
    lw_kernel *const *own; /* NULL, or by dtype the kernel for elements that are stored in it; NULL to convert these */
} reducer;

/* Returns how many of a tree's n >= 2 leaves are in its left subtree: the largest power of two below n. */
static inline int64_t reduce_left(int64_t n) { return INT64_C(1) << (63 - __builtin_clzll((uint64_t)n - 1)); }

/* Reduces a layout: what a kernel of the kinds reduction and index_reduction does. */
lw_status reduce(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                 const lw_scalar *parameters, const reducer *reducer);
