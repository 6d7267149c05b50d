/* Reductions of blocks to one partial result each (reduce_block.h). core/ops/<op>.h invokes REDUCTION, which defines
 * the kernel lw_<op>_<dtype>. */
#pragma once

#include "layout/layout_iterator.h"
#include "layout/strided.h"
#include "reduce/reduce.h"
#include "reduce/reduce_block.h"

/* A partial as a number. */
static inline element reduced_element(const reduced *r) {
    element value;
    __builtin_memcpy(&value, &r->bits, sizeof value);
    return value;
}

/* Defines <op>_finish, the function of a reducer, from <op>_finish_one, which computes one output. */
#define FINISH(op)                                                                                              \
    static void op##_finish(const reduced *totals, int64_t outputs, int64_t count, const lw_scalar *parameters, \
                            char *out, int64_t step) {                                                          \
        for (int64_t i = 0; i < outputs; i++) op##_finish_one(totals + i, count, parameters, out + i * step);   \
    }

/* Defines the kernel lw_<op>_<dtype> of the reducer <op>_reducer. */
#define REDUCTION_KERNEL(op) \
    ELEMENT_KERNEL(op) { return reduce(context, layout, inputs, outputs, parameters, &op##_reducer); }

/* Defines the steps of a block reduction of one or two inputs: <op>_map, <op>_join and <op>_join_partials. `mapped` is
 * an expression in x and y, of type vec, and gives the values to reduce. `joined` is an expression in a and b, of type
 * `partial`, which is vec or vmask, and combines them. */
#define BLOCK_REDUCTION_STEPS(op, partial, mapped, joined)                                                         \
    INLINE void op##_map(const char *p, const char *q, int n, vbits state, vbits *result) {                        \
        vec x = reduce_load(p, n), y = reduce_load(q, n);                                                          \
        (void)y;                                                                                                   \
        *result = (vbits)(mapped);                                                                                 \
    }                                                                                                              \
    INLINE void op##_join(vbits *left, const vbits *right) {                                                       \
        partial a = (partial)left[0], b = (partial)right[0];                                                       \
        left[0] = (vbits)(joined);                                                                                 \
    }                                                                                                              \
    static void op##_join_partials(reduced *left, int64_t left_count, const reduced *right, int64_t right_count) { \
        vbits a = b_set((element_bits)left->bits), b = b_set((element_bits)right->bits);                           \
        op##_join(&a, &b);                                                                                         \
        left->bits = b_first(a);                                                                                   \
    }

/* Defines the functions of BLOCK_REDUCTION_STEPS, and <op>_reduce and <op>_block, which reduce a block. `identity` is
 * of type `partial`. */
#define BLOCK_REDUCTION(op, partial, identity, mapped, joined)                                                \
    BLOCK_REDUCTION_STEPS(op, partial, mapped, joined)                                                        \
    INLINE element_bits op##_reduce(const reduce_source *from, int64_t count) {                               \
        vbits total;                                                                                          \
        reduce_block(from, count, IS_FLOATING ? REDUCE_PARTIALS : REDUCE_FREE_PARTIALS, 1, (vbits)(identity), \
                     b_set(0), op##_map, op##_join, &total);                                                  \
        return b_first(total);                                                                                \
    }                                                                                                         \
    static void op##_block(const reduce_source *from, int64_t start, int64_t count, reduced *result) {        \
        result->bits = op##_reduce(from, count);                                                              \
    }

/* Defines a block reduction, its reducer and the kernel lw_<op>_<dtype>. The kernel has one or two inputs. `finished`
 * is an expression of `total`, one partial, and of `count`, the number of elements, and becomes a `result`. `is_total`
 * is 1 if that is `total` for every count but 0. */
#define REDUCTION(op, input_count, partial, result, identity, mapped, joined, finished, is_total)     \
    DECIDED_REDUCTION(op, input_count, partial, result, identity, mapped, joined, finished, is_total, \
                      REDUCE_UNDECIDED, NULL)
#define DECIDED_REDUCTION(op, input_count, partial, result, identity, mapped, joined, finished, is_total, decision, \
                          own)                                                                                      \
    BLOCK_REDUCTION(op, partial, identity, mapped, joined)                                                          \
    REDUCTION_BY(op, input_count, partial, result, IS_FLOATING ? REDUCE_IN_ORDER : REDUCE_ANY_ORDER, identity,      \
                 finished, is_total, decision, own)

/* Defines <op>_columns of a block reduction that is already defined, and <op>_outputs, which gives partials. */
#define BLOCK_COLUMNS(op, order, identity)                                                             \
    static void op##_outputs(const reduce_source *from, int64_t count, int64_t columns, char *out) {   \
        reduce_columns(from, count, columns, order, (vbits)(identity), NULL, op##_map, op##_join,      \
                       (element_bits *)out);                                                           \
    }                                                                                                  \
    static void op##_columns(const reduce_source *from, int64_t start, int64_t count, int64_t columns, \
                             reduced *results) {                                                       \
        element_bits bits[REDUCE_MAX_COLUMNS];                                                         \
        op##_outputs(from, count, columns, (char *)bits);                                              \
        for (int64_t c = 0; c < columns; c++) results[c].bits = bits[c];                               \
    }

/* Defines the reducer and the kernel of a block reduction that is already defined. */
#define REDUCTION_BY(op, input_count, partial, result, order, identity, finished, is_total, decision, own) \
    BLOCK_COLUMNS(op, order, identity)                                                                     \
    REDUCTION_FINISHED(op, op, input_count, partial, result, finished, decision, (is_total) ? op##_outputs : NULL, own)

/* Defines a reducer with the blocks of another operation, and the kernel lw_<op>_<dtype>. */
#define REDUCTION_FINISHED(op, blocks, input_count, partial, result, finished, decision, outputs, own)       \
    INLINE void op##_finish_one(const reduced *bits, int64_t count, const lw_scalar *parameters, char *to) { \
        __typeof__(((partial){0})[0]) total;                                                                 \
        __builtin_memcpy(&total, &bits->bits, sizeof total);                                                 \
        result value = (result)(finished);                                                                   \
        __builtin_memcpy(to, &value, sizeof value);                                                          \
    }                                                                                                        \
    FINISH(op)                                                                                               \
    static const reducer op##_reducer = {input_count,                                                        \
                                         sizeof(element),                                                    \
                                         blocks##_block,                                                     \
                                         blocks##_columns,                                                   \
                                         blocks##_join_partials,                                             \
                                         op##_finish,                                                        \
                                         decision,                                                           \
                                         outputs,                                                            \
                                         NULL,                                                               \
                                         own};                                                               \
    REDUCTION_KERNEL(op)

/* Defines OWN(op), the kernels of a reducer of int32 for integers of LW_OWN_BYTES at most, which do not convert them;
 * NULL for other dtypes. */
#ifdef LW_ELEMENT_INT32
#define OWN(op) op##_own
#define OWN_KERNELS(op, int8, uint8, int16, uint16)                                                        \
    HIDDEN_KERNEL lw_##int8, lw_##uint8, lw_##int16, lw_##uint16;                                          \
    static lw_kernel *const op##_own[LW_DTYPE_COUNT] = {[LW_INT8] = lw_##int8,                             \
                                                        [LW_UINT8] = lw_##uint8,                           \
                                                        [LW_INT16] = LW_OWN_BYTES < 2 ? NULL : lw_##int16, \
                                                        [LW_UINT16] = LW_OWN_BYTES < 2 ? NULL : lw_##uint16};
#else
#define OWN(op) NULL
#define OWN_KERNELS(op, int8, uint8, int16, uint16)
#endif
