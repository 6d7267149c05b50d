/* Row operations: every row of x, the last dimension of the layout, is transformed as a whole.
 *
 * A row operation is a function of one row. Its core/ops/<op>.h defines the kernel lw_<op>_<dtype> with ROWS, which
 * calls that function for each row; kernels.c includes the header and names the kernel in the table. Most are made of
 * row_fold, which gives what a reduction says of the row, and row_map, which computes each element with that. A row
 * is read and written in pieces that row_read and row_write pack and unpack where they are not contiguous; elements
 * have 4 bytes. The first input may be the output: what is written is not read again as that input, and the other
 * inputs are elsewhere. */
#ifndef LANEWISE_ROWS_H
#define LANEWISE_ROWS_H

#include "reduction.h"

/* One operand along a row. */
typedef struct row_operand {
    const char *data; /* NULL where an optional input is absent */
    int64_t stride;
} row_operand;

typedef struct row {
    int64_t length;
    row_operand in[3];
    row_operand out; /* to be read again */
    char *out_data;  /* to be written; NULL where only the sum of the results is wanted */
    const lw_scalar *parameters;
} row;

typedef void row_function(const row *r);

enum {
    ROW_ITEM = 4,        /* bytes of an element */
    ROWS_GRAIN = 1 << 15 /* elements worth a task */
};

/* `count` elements of an operand from the start-th on: where they are, or packed. */
static inline const void *row_read(row_operand operand, int64_t start, int64_t count, void *packed) {
    const char *from = operand.data + start * operand.stride;
    if (operand.stride == ROW_ITEM) return from;
    copy_strided(packed, ROW_ITEM, from, operand.stride, count, ROW_ITEM);
    return packed;
}

/* Where to compute a piece of the result; row_write puts it into its place. */
static inline void *row_result(const row *r, int64_t start, void *packed) {
    return r->out_data && r->out.stride == ROW_ITEM ? r->out_data + start * ROW_ITEM : packed;
}
static inline void row_write(const row *r, int64_t start, int64_t count, const void *piece) {
    if (!r->out_data || r->out.stride == ROW_ITEM) return;
    copy_strided(r->out_data + start * r->out.stride, r->out.stride, piece, ROW_ITEM, count, ROW_ITEM);
}

/* An operand's elements, or some blocks of them, folded as reduction.h folds those of one output. */
static reduced row_fold_blocks(const row *r, row_operand x, int64_t first, int64_t blocks, const reducer *f,
                               void *packed) {
    reduced result;
    if (blocks > 1) {
        int64_t left = 1;
        while (left * 2 < blocks) left *= 2;
        result = row_fold_blocks(r, x, first, left, f, packed);
        reduced right = row_fold_blocks(r, x, first + left, blocks - left, f, packed);
        int64_t end = min_int64((first + blocks) * FOLD_BLOCK, r->length);
        f->join(&result, left * FOLD_BLOCK, &right, end - (first + left) * FOLD_BLOCK);
        return result;
    }
    int64_t start = first * FOLD_BLOCK, count = min_int64(r->length - start, FOLD_BLOCK);
    fold_source from = {.x = row_read(x, start, count, packed)};
    from.y = from.x;
    f->block(&from, start, count, &result);
    return result;
}

static reduced row_fold(const row *r, row_operand x, const reducer *f) {
    char packed[FOLD_BLOCK * ROW_ITEM];
    return row_fold_blocks(r, x, 0, divide_up(r->length, FOLD_BLOCK), f, packed);
}
static inline float row_fold_float32(const row *r, row_operand x, const reducer *f) {
    reduced result = row_fold(r, x, f);
    return reduced_float32(&result);
}

/* An element of the result, from those of the operands and numbers that are the same along the row. */
typedef vf32 row_expression(const vf32 *x, const vf32 *numbers);

enum { ROW_OPERANDS = 3, ROW_PIECE = 1024 };

/* Where a piece of each operand is. It moves by -1, or by 0 where one register full of a number stands for it. */
typedef struct row_source {
    const float *at;
    int64_t moves;
} row_source;

LANE vf32 row_lanes(const row_source *in, int operands, int64_t i, int n, const vf32 *numbers,
                    row_expression *expression) {
    vf32 x[ROW_OPERANDS];
#pragma GCC unroll 3
    for (int o = 0; o < operands; o++) {
        const float *at = in[o].at + (i & in[o].moves);
        x[o] = n == VF32_LANES ? vf32_load(at) : vf32_load_partial(at, n, vf32_set(0));
    }
    return expression(x, numbers);
}

/* `partial` is NULL where no sum is wanted. */
LANE void row_piece(const row_source *in, int operands, int64_t count, const vf32 *numbers, row_expression *expression,
                    float *result, float *partial) {
    int64_t i = 0;
    for (; i + VF32_LANES <= count; i += VF32_LANES) {
        vf32 value = row_lanes(in, operands, i, VF32_LANES, numbers, expression);
        vf32_store(result + i, value);
        if (!partial) continue;
        float *to = partial + i % FOLD_PARTIALS;
        vf32_store(to, vf32_load(to) + value);
    }
    if (i < count) {
        int n = (int)(count - i);
        vf32_store_partial(result + i, row_lanes(in, operands, i, n, numbers, expression), n);
        for (; i < count && partial; i++) partial[i % FOLD_PARTIALS] += result[i];
    }
}

/* Computes the result from the elements of operands; one of them may be the result itself. An operand that is absent
 * is its number in `absent`. Where `summed`, returns the sum of the results: of a piece in 64 partials as fold.h has
 * them, then in double. */
LANE double row_map(const row *r, const row_operand *operands, int count, const float *absent, const vf32 *numbers,
                    row_expression *expression, int summed) {
    float packed[ROW_OPERANDS][ROW_PIECE], partial[FOLD_PARTIALS];
    row_source in[ROW_OPERANDS], moving[ROW_OPERANDS]; /* the same; these are known to move */
    int64_t all_move = -1;
    double sum = 0;
#pragma GCC unroll 3
    for (int o = 0; o < count; o++) {
        in[o] = (row_source){packed[o], operands[o].data ? -1 : 0};
        all_move &= in[o].moves;
        if (!in[o].moves) vf32_store(packed[o], vf32_set(absent[o]));
    }
    for (int64_t start = 0; start < r->length; start += ROW_PIECE) {
        int64_t n = min_int64(r->length - start, ROW_PIECE);
#pragma GCC unroll 3
        for (int o = 0; o < count; o++) {
            if (in[o].moves) in[o].at = row_read(operands[o], start, n, packed[o]);
            moving[o] = (row_source){in[o].at, -1};
        }
        float *result = row_result(r, start, packed[0]);
        for (int p = 0; p < FOLD_PARTIALS && summed; p++) partial[p] = 0;
        if (all_move)
            row_piece(moving, count, n, numbers, expression, result, summed ? partial : NULL);
        else if (absent)
            row_piece(in, count, n, numbers, expression, result, summed ? partial : NULL);
        row_write(r, start, n, result);
        for (int half = FOLD_PARTIALS / 2; half && summed; half /= 2)
            for (int p = 0; p < half; p++) partial[p] += partial[p + half];
        if (summed) sum += (double)partial[0];
    }
    return sum;
}

typedef struct rows {
    const lw_layout *layout;
    const void *const *inputs;
    char *out;
    const lw_scalar *parameters;
    row_function *function;
    int32_t input_count;
    int64_t count, per_task, length;
} rows;

static lw_status rows_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const rows *all = argument;
    const lw_layout *layout = all->layout;
    int32_t outer = layout->ndim - layout->inner, result = all->input_count;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->count);
    row r = {.length = all->length, .parameters = all->parameters};
    for (int32_t i = 0; i < all->input_count; i++) r.in[i].stride = layout->inner ? layout->strides[i][outer] : 0;
    r.out.stride = layout->inner ? layout->strides[result][outer] : 0;
    walk w;
    walk_start(&w, layout, 0, outer, result + 1, first);
    for (int64_t i = first; i < end; i++, walk_next(&w)) {
        for (int32_t o = 0; o < all->input_count; o++)
            r.in[o].data = all->inputs[o] ? (const char *)all->inputs[o] + w.offset[o] : NULL;
        r.out.data = r.out_data = all->out + w.offset[result];
        all->function(&r);
    }
    return LW_OK;
}

static lw_status run_rows(lw_context *context, const void *layout_argument, const void *const *inputs,
                          void *const *outputs, const lw_scalar *parameters, int32_t input_count,
                          row_function *function) {
    const lw_layout *layout = layout_argument;
    rows all = {layout, inputs, outputs[0], parameters, function, input_count, 0, 0, 0};
    all.count = walk_count(layout, 0, layout->ndim - layout->inner);
    all.length = walk_count(layout, layout->ndim - layout->inner, layout->ndim);
    if (all.count == 0 || all.length == 0) return LW_OK;
    all.per_task = divide_up(ROWS_GRAIN, all.length);
    return run_tasks(context, divide_up(all.count, all.per_task), rows_task, &all);
}

/* Defines the kernel lw_<op>_<dtype> from the function <op>_row_<dtype> and the number of inputs. */
#define ROWS(op, dtype, input_count)                                                                       \
    static lw_status lw_##op##_##dtype(lw_context *context, const void *layout, const void *const *inputs, \
                                       void *const *outputs, const lw_scalar *parameters) {                \
        return run_rows(context, layout, inputs, outputs, parameters, input_count, op##_row_##dtype);      \
    }

#endif
