/* Row kernels: transform each row of x, the last dimension of the layout, as a whole.
 *
 * core/ops/<op>.h defines <op>_rows, and with the macro ROWS the kernel lw_<op>_<dtype>. Most of these functions call
 * row_reduce, which reduces a row like a reduction does, compute numbers from the result, then call a function that
 * ROW_MAP defines, which computes the output from the row and its numbers. <op>_rows is compiled twice:
 *
 * - For one row at a time, with the elements of a row in the lanes of a vector. Rows are read and written in chunks;
 *   row_read and row_write copy rows that are not contiguous. If there are fewer rows than threads, tasks divide each
 *   long row (row_division.h).
 * - For many rows side by side, with an element of LANES rows in a vector (rows.c). Rows that are short, or along
 *   another axis than the last, are computed in this way. `beside` is then 1, and r->width the number of rows.
 *
 * Both give the same bits. The output may alias the first input, because no element of that input is read after it is
 * overwritten. The output may not alias other inputs, which are the same for all rows. */
#pragma once

#include "reduce/reduction.h"
#include "reduce/row.h"

enum {
    ROW_NUMBERS = 3,              /* numbers of a row, at most, from which the output is computed */
    ROW_LINE = 64 / ELEMENT_SIZE, /* elements per cache line */
    ROW_CHUNK = 1024              /* elements that are computed at a time */
};

/* A number for each row. */
typedef element row_numbers[ROW_BESIDE];

/* The number of rows that <op>_rows computes. */
INLINE int64_t row_width(const row *r, int beside) { return beside ? r->width : 1; }

/* The numbers of LANES rows, beginning with row `first`; or that of the only row, in all lanes. */
INLINE vec row_number(const element *numbers, int beside, int64_t first) {
    return beside ? v_load(numbers + first) : v_set(numbers[0]);
}

RARE void row_copy(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) {
    copy_strided(to, to_step, from, from_step, count, ELEMENT_SIZE);
}

/* Returns `count` elements of an operand, beginning with element `start`: in place, or copied to `packed`. */
static inline const void *row_read(row_operand operand, int64_t start, int64_t count, void *packed) {
    const char *from = operand.data + start * operand.stride;
    if (operand.stride == ELEMENT_SIZE) {
        PATH("rows: reads in place");
        return from;
    }
    PATH("rows: packs what it reads");
    row_copy(packed, ELEMENT_SIZE, from, operand.stride, count);
    return packed;
}

/* Returns where to compute a chunk of the result: in place, or in `packed`, from where row_write copies it. */
static inline void *row_result(const row *r, int64_t start, void *packed) {
    return r->out_data && r->out.stride == ELEMENT_SIZE ? r->out_data + start * ELEMENT_SIZE : packed;
}
static inline void row_write(const row *r, int64_t start, int64_t count, const void *packed) {
    if (!r->out_data || r->out.stride == ELEMENT_SIZE) {
        return;
    }
    PATH("rows: packs the result");
    row_copy(r->out_data + start * r->out.stride, r->out.stride, packed, ELEMENT_SIZE, count);
}

/* Reduces blocks first .. first + blocks - 1 of an operand, and joins their results by the same tree as reduce.c.
 * Unless `done` is NULL, it has the results of every per_task blocks, a power of two, which are whole subtrees. */
static void row_reduce_blocks(const row *r, row_operand x, int64_t first, int64_t blocks, const reducer *f,
                              void *packed, const reduced *done, int64_t per_task, reduced *results) {
    if (done && blocks <= per_task) {
        *results = done[first / per_task];
        return;
    }
    if (blocks > 1) {
        PATH_EITHER(r->width > 1, "rows: reduces several blocks side by side", "rows: reduces several blocks");
        int64_t left = reduce_left(blocks), end = min_int64((first + blocks) * REDUCE_BLOCK, r->length);
        reduced right[ROW_BESIDE];
        row_reduce_blocks(r, x, first, left, f, packed, done, per_task, results);
        row_reduce_blocks(r, x, first + left, blocks - left, f, packed, done, per_task, right);
        for (int64_t i = 0; i < r->width; i++) {
            f->join(results + i, left * REDUCE_BLOCK, right + i, end - (first + left) * REDUCE_BLOCK);
        }
        return;
    }
    int64_t start = first * REDUCE_BLOCK, count = min_int64(r->length - start, REDUCE_BLOCK);
    reduce_source from = {.x_stride = x.stride, .y_stride = x.stride};
    from.x = from.y = r->width > 1 ? x.data + start * x.stride : row_read(x, start, count, packed);
    if (r->width > 1) {
        f->columns(&from, start, count, r->width, results);
    } else {
        f->block(&from, start, count, results);
    }
}

#include "reduce/row_division.h"

static void row_reduce_long(const row *r, row_operand x, const reducer *f, reduced *results) {
    char packed[REDUCE_BLOCK * ELEMENT_SIZE];
    if (!HAS_THREADS || !r->division || !row_reduce_by_tasks(r, x, f, results)) {
        row_reduce_blocks(r, x, 0, divide_up(r->length, REDUCE_BLOCK), f, packed, NULL, 0, results);
    }
}
/* Reduces an operand; `results` has one for each row. Inlined, because the function that ROW_MAP defines, which comes
 * next, waits for this result: a call and its register spills would be on the critical path. */
INLINE void row_reduce(const row *r, int beside, row_operand x, const reducer *f, reduced *results) {
    if (beside || r->length > REDUCE_BLOCK || x.stride != ELEMENT_SIZE) {
        row_reduce_long(r, x, f, results);
        return;
    }
    PATH("rows: reduces one contiguous block");
    reduce_source from = {.x = x.data, .y = x.data};
    f->block(&from, 0, r->length, results);
}
/* The same of a reducer whose results are elements. */
INLINE void row_reduce_elements(const row *r, int beside, row_operand x, const reducer *f, element *results) {
    reduced totals[ROW_BESIDE];
    if (beside && r->length <= REDUCE_BLOCK) {
        reduce_source from = {x.data, x.data, x.stride, x.stride};
        f->outputs(&from, r->length, r->width, (char *)results);
        return;
    }
    row_reduce(r, beside, x, f, totals);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        results[i] = reduced_element(totals + i);
    }
}

/* Computes a vector of the result from x[o], a vector of operand o, and from `numbers`, which are constant along the
 * row. */
typedef vec row_expression(const vec *x, const vec *numbers);

enum {
    ROW_OPERANDS = ROW_INPUTS,
    ROW_REGISTERS = LANES > 4 ? 4 : 1, /* vectors per iteration */
    ROW_STEP = ROW_REGISTERS * LANES
};

/* A chunk of an operand. For an absent operand, `moves` is 0: `at` stays at the start of a buffer of ROW_STEP elements,
 * which is filled with a constant. */
typedef struct row_source {
    const element *at;
    int moves;
} row_source;

INLINE vec row_lanes(const row_source *in, int operands, int beyond, int n, const vec *numbers,
                     row_expression *expression) {
    vec x[ROW_OPERANDS];
#pragma GCC unroll 3
    for (int o = 0; o < operands; o++) {
        const element *at = in[o].at + beyond;
        x[o] = n == LANES ? v_load(at) : v_load_partial(at, n, v_set(0));
    }
    return expression(x, numbers);
}
INLINE void row_move(row_source *in, int operands, int count) {
#pragma GCC unroll 3
    for (int o = 0; o < operands; o++) {
        in[o].at += in[o].moves ? count : 0;
    }
}

/* Computes a chunk of the result, and adds it to the partial sums unless `partial` is NULL. A step loads everything
 * before it stores, because neither compiler nor processor can always tell that loads and stores do not alias.
 * Prefetches the next row, except with three operands, whose loads already keep the load ports busy. */
INLINE void row_chunk(row_source *in, int operands, int64_t count, const vec *numbers, row_expression *expression,
                      element *result, vec *partial, const element *prefetch) {
    PATH_IF(count >= ROW_STEP, "rows: whole steps");
    PATH_IF(ROW_REGISTERS > 1 && count % ROW_STEP >= LANES, "rows: one vector");
    PATH_IF(LANES > 1 && count % LANES, "rows: part of a vector");
    int64_t i = 0;
    for (; i + ROW_STEP <= count; i += ROW_STEP, row_move(in, operands, ROW_STEP)) {
        vec value[ROW_REGISTERS];
#pragma GCC unroll 4
        for (int line = 0; line + ROW_LINE <= ROW_STEP && operands < ROW_OPERANDS; line += ROW_LINE) {
            __builtin_prefetch(prefetch + i + line);
        }
#pragma GCC unroll 4
        for (int r = 0; r < ROW_REGISTERS; r++) {
            value[r] = row_lanes(in, operands, r * LANES, LANES, numbers, expression);
        }
#pragma GCC unroll 4
        for (int r = 0; r < ROW_REGISTERS; r++) {
            v_store(result + i + r * LANES, value[r]);
        }
        if (!partial) {
            continue;
        }
#pragma GCC unroll 4
        for (int r = 0; r < ROW_REGISTERS; r++) {
            partial[i % REDUCE_PARTIALS / LANES + r] += value[r];
        }
    }
    for (; i < count; i += LANES, row_move(in, operands, LANES)) {
        int n = (int)min_int64(count - i, LANES);
        vec value = row_lanes(in, operands, 0, n, numbers, expression);
        v_store_partial(result + i, value, n);
        vmask within = b_lt(b_iota(), b_set(n));
        if (partial) {
            partial[i % REDUCE_PARTIALS / LANES] += v_select(within, value, v_set(0));
        }
    }
}

/* Does what ROW_MAP says for elements `first` to end - 1: whole chunks, or the end of the row. If `summed`, stores the
 * sum of each chunk at the chunk's index in `sums`, or returns the sum of all chunks if that is NULL. */
INLINE double row_map_chunks(const row *r, const row_operand *operands, int count, const element *absent,
                             const row_numbers *numbers, int constants, row_expression *expression, int summed,
                             int64_t first, int64_t end, double *sums) {
    element packed[ROW_OPERANDS][ROW_CHUNK];
    row_source in[ROW_OPERANDS];
    vec number[ROW_NUMBERS];
    double sum = 0;
#pragma GCC unroll 3
    for (int k = 0; k < constants; k++) {
        number[k] = v_set(numbers[k][0]);
    }
#pragma GCC unroll 3
    for (int o = 0; o < count; o++) {
        in[o] = (row_source){packed[o], !absent || operands[o].data};
        for (int i = 0; !in[o].moves && i < ROW_STEP; i += LANES) {
            v_store(packed[o] + i, v_set(absent[o]));
        }
    }
    for (int64_t start = first; start < end; start += ROW_CHUNK) {
        int64_t n = min_int64(end - start, ROW_CHUNK);
        PATH_IF(start > 0, "rows: another chunk");
        PATH_IF(summed && start > 0, "rows: another chunk of a sum");
#pragma GCC unroll 3
        for (int o = 0; o < count; o++) {
            if (in[o].moves) {
                in[o].at = row_read(operands[o], start, n, packed[o]);
            }
        }
        element *result = row_result(r, start, packed[0]);
        vec partial[REDUCE_REGISTERS];
        for (int p = 0; p < REDUCE_REGISTERS && summed; p++) {
            partial[p] = v_set(0);
        }
        row_chunk(in, count, n, number, expression, result, summed ? partial : NULL,
                  (const element *)r->prefetch + start);
        row_write(r, start, n, result);
        for (int half = REDUCE_REGISTERS / 2; half && summed; half /= 2) {
            for (int p = 0; p < half; p++) {
                partial[p] += partial[p + half];
            }
        }
        if (summed && sums) {
            sums[start / ROW_CHUNK] = (double)v_reduce_add(partial[0]);
        } else if (summed) {
            sum += (double)v_reduce_add(partial[0]);
        }
    }
    return sum;
}

/* Adds up to REDUCE_PARTIALS partial sums, in the order of reduce_block.h. */
INLINE vec row_join(vec *partial, int64_t count) {
    for (int64_t half = REDUCE_PARTIALS / 2; half; count = min_int64(count, half), half /= 2) {
        for (int64_t p = 0; p + half < count; p++) {
            partial[p] += partial[p + half];
        }
    }
    return partial[0];
}

/* Does what ROW_MAP says for rows side by side. */
INLINE void row_map_beside(const row *r, const row_operand *operands, int count, const element *absent,
                           const row_numbers *numbers, int constants, row_expression *expression, double *sums) {
    PATH("rows: side by side");
    for (int64_t first = 0; first < r->width; first += LANES) {
        vec number[ROW_NUMBERS], partial[REDUCE_PARTIALS];
        row_operand in[ROW_OPERANDS];
        element total[LANES];
#pragma GCC unroll 3
        for (int k = 0; k < constants; k++) {
            number[k] = v_load(numbers[k] + first);
        }
        in[0] = (row_operand){operands[0].data + first * ELEMENT_SIZE, operands[0].stride};
#pragma GCC unroll 3
        for (int o = 1; o < count; o++) {
            in[o] = operands[o].data ? operands[o] : (row_operand){(const char *)(absent + o), 0};
        }
        for (int64_t i = 0; i < r->length; i++) {
            vec x[ROW_OPERANDS] = {v_load((const element *)in[0].data)};
            in[0].data += in[0].stride;
#pragma GCC unroll 3
            for (int o = 1; o < count; o++) {
                x[o] = v_set(element_load(in[o].data));
                in[o].data += in[o].stride;
            }
            vec value = expression(x, number);
            if (r->out_data) {
                v_store((element *)(r->out_data + i * r->out.stride) + first, value);
            }
            if (!sums) {
                continue;
            }
            int64_t p = i % REDUCE_PARTIALS;
            partial[p] = i % ROW_CHUNK < REDUCE_PARTIALS ? value : partial[p] + value;
            if (i + 1 == r->length || i % ROW_CHUNK == ROW_CHUNK - 1) {
                v_store(total, row_join(partial, min_int64(i % ROW_CHUNK + 1, REDUCE_PARTIALS)));
                for (int lane = 0; lane < LANES; lane++) {
                    sums[first + lane] = (i < ROW_CHUNK ? 0 : sums[first + lane]) + (double)total[lane];
                }
            }
        }
    }
}

/* Defines a function `name` that computes rows of the result from `count` operands, one of which may be the result
 * itself, and `constants` numbers for each row. An absent operand has the constant value in `absent`. If `summed`, the
 * function stores the sums of the results, of which none is -0, in `sums`: each chunk is summed in 64 partials as in
 * reduce_block.h, and the sums of the chunks are added in float64. */
#define ROW_MAP(name, count, constants, expression, summed)                                                         \
    static lw_status name##_task(lw_context *context, int64_t task, const void *argument) {                         \
        const row_map_call *c = argument;                                                                           \
        int64_t first = task * c->per_task * ROW_CHUNK;                                                             \
        double sum = row_map_chunks(c->r, c->operands, count, c->absent, c->numbers, constants, expression, summed, \
                                    first, min_int64(first + c->per_task * ROW_CHUNK, c->r->length), c->sums);      \
        if (summed && !c->sums) *c->sum = sum;                                                                      \
        return LW_OK;                                                                                               \
    }                                                                                                               \
    RARE double name##_divided(const row *r, const row_operand *operands, const element *absent,                    \
                               const row_numbers *numbers) {                                                        \
        row_map_call call = {.r = r, .operands = operands, .absent = absent, .numbers = numbers};                   \
        return row_map_by_tasks(&call, summed, name##_task);                                                        \
    }                                                                                                               \
    INLINE void name(const row *r, int beside, const row_operand *operands, const element *absent,                  \
                     const row_numbers *numbers, double *sums) {                                                    \
        if (beside) {                                                                                               \
            row_map_beside(r, operands, count, absent, numbers, constants, expression, summed ? sums : NULL);       \
            return;                                                                                                 \
        }                                                                                                           \
        double sum = HAS_THREADS && r->division ? name##_divided(r, operands, absent, numbers)                      \
                                                : row_map_chunks(r, operands, count, absent, numbers, constants,    \
                                                                 expression, summed, 0, r->length, NULL);           \
        if (summed) sums[0] = sum;                                                                                  \
    }

/* Computes rows that are side by side one at a time. */
static void row_each(const row *r, row_function *function) {
    row one = *r;
    one.width = 1;
    for (int64_t i = 0; i < r->width; i++) {
        one.in[0].data = r->in[0].data + i * ELEMENT_SIZE;
        one.out.data = one.out_data = r->out_data + i * ELEMENT_SIZE;
        one.prefetch = one.in[0].data;
        function(&one);
    }
}

/* Defines the kernel lw_<op>_<dtype> from <op>_rows(r, beside); or from <op>_row and <op>_beside, which call it. */
#define ROWS(op, input_count)                                  \
    static void op##_row(const row *r) { op##_rows(r, 0); }    \
    static void op##_beside(const row *r) { op##_rows(r, 1); } \
    ROWS_BY(op, input_count)
#define ROWS_BY(op, input_count)                                                             \
    ELEMENT_KERNEL(op) {                                                                     \
        static const row_kernel kernel = {op##_row, op##_beside, input_count, ELEMENT_SIZE}; \
        return run_rows(context, layout, inputs, outputs, parameters, &kernel);              \
    }
