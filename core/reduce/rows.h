/* Row kernels: transform each row of x, the last dimension of the layout, as a whole.
 *
 * core/ops/<op>.h defines <op>_row, a function of one row, and with the macro ROWS the kernel lw_<op>_<dtype>, which
 * calls the function for each row. Most of these functions call row_reduce, which reduces the row like a reduction
 * does, then a function that ROW_MAP defines, which computes the output from the row and that result. Rows are read and
 * written in chunks; row_read and row_write copy rows that are not contiguous. If there are fewer rows than threads,
 * tasks divide each long row (row_division.h). The output may alias the first input, because no element of that input
 * is read after it is overwritten. The output may not alias other inputs. */
#pragma once

#include "reduce/reduction.h"

/* One operand along a row. */
typedef struct row_operand {
    const char *data; /* NULL if an optional input is absent */
    int64_t stride;
} row_operand;

enum {
    ROW_INPUTS = 3,
    ROW_LINE = 64 / ELEMENT_SIZE, /* elements per cache line */
    ROW_CHUNK = 1024,             /* elements that are computed at a time */
    ROW_MAX_CACHED = 4096         /* longer rows are not prefetched, because they may not fit in L1 or L2 */
};

typedef struct row {
    int64_t length;
    row_operand in[ROW_INPUTS];
    row_operand out;      /* for functions that read back what they wrote: `data` equals out_data */
    char *out_data;       /* where to write the output; NULL to compute only the sum of the results */
    const char *prefetch; /* the next row; or this row, if there is nothing to prefetch */
    const lw_scalar *parameters;
    struct row_division *division; /* NULL unless tasks divide the row */
} row;

typedef void row_function(const row *r);

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
static reduced row_reduce_blocks(const row *r, row_operand x, int64_t first, int64_t blocks, const reducer *f,
                                 void *packed, const reduced *done, int64_t per_task) {
    reduced result;
    if (done && blocks <= per_task) {
        return done[first / per_task];
    }
    if (blocks > 1) {
        PATH("rows: reduces several blocks");
        int64_t left = reduce_left(blocks);
        result = row_reduce_blocks(r, x, first, left, f, packed, done, per_task);
        reduced right = row_reduce_blocks(r, x, first + left, blocks - left, f, packed, done, per_task);
        int64_t end = min_int64((first + blocks) * REDUCE_BLOCK, r->length);
        f->join(&result, left * REDUCE_BLOCK, &right, end - (first + left) * REDUCE_BLOCK);
        return result;
    }
    int64_t start = first * REDUCE_BLOCK, count = min_int64(r->length - start, REDUCE_BLOCK);
    reduce_source from = {.x = row_read(x, start, count, packed)};
    from.y = from.x;
    f->block(&from, start, count, &result);
    return result;
}

#include "reduce/row_division.h"

static reduced row_reduce_long(const row *r, row_operand x, const reducer *f) {
    char packed[REDUCE_BLOCK * ELEMENT_SIZE];
    reduced result;
    if (HAS_THREADS && r->division && row_reduce_by_tasks(r, x, f, &result)) {
        return result;
    }
    return row_reduce_blocks(r, x, 0, divide_up(r->length, REDUCE_BLOCK), f, packed, NULL, 0);
}
/* Reduces an operand. Inlined, because the function that ROW_MAP defines, which comes next, waits for this result: a
 * call and its register spills would be on the critical path. */
INLINE reduced row_reduce(const row *r, row_operand x, const reducer *f) {
    if (r->length > REDUCE_BLOCK || x.stride != ELEMENT_SIZE) {
        return row_reduce_long(r, x, f);
    }
    PATH("rows: reduces one contiguous block");
    reduce_source from = {.x = x.data, .y = x.data};
    reduced result;
    f->block(&from, 0, r->length, &result);
    return result;
}
INLINE element row_reduce_element(const row *r, row_operand x, const reducer *f) {
    reduced result = row_reduce(r, x, f);
    return reduced_element(&result);
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
                             const vec *numbers, row_expression *expression, int summed, int64_t first, int64_t end,
                             double *sums) {
    element packed[ROW_OPERANDS][ROW_CHUNK];
    row_source in[ROW_OPERANDS];
    double sum = 0;
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
        row_chunk(in, count, n, numbers, expression, result, summed ? partial : NULL,
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

/* Defines a function `name` that computes a row of the result from `count` operands, one of which may be the result
 * itself, and `constants` numbers. An absent operand has the constant value in `absent`. If `summed`, the function
 * returns the sum of the results: each chunk is summed in 64 partials as in reduce_block.h, and the sums of the chunks
 * are added in float64. Tasks get a copy of the numbers: if their address left the function, the loop would load them
 * for every vector. */
#define ROW_MAP(name, count, constants, expression, summed)                                                     \
    typedef struct name##_numbers {                                                                             \
        vec of[constants];                                                                                      \
    } name##_numbers;                                                                                           \
    static lw_status name##_task(lw_context *context, int64_t task, const void *argument) {                     \
        const row_map_call *c = argument;                                                                       \
        int64_t first = task * c->per_task * ROW_CHUNK;                                                         \
        double sum = row_map_chunks(c->r, c->operands, count, c->absent, c->numbers, expression, summed, first, \
                                    min_int64(first + c->per_task * ROW_CHUNK, c->r->length), c->sums);         \
        if (summed && !c->sums) *c->sum = sum;                                                                  \
        return LW_OK;                                                                                           \
    }                                                                                                           \
    RARE double name##_divided(const row *r, const row_operand *operands, const element *absent,                \
                               name##_numbers numbers) {                                                        \
        row_map_call call = {.r = r, .operands = operands, .absent = absent, .numbers = numbers.of};            \
        return row_map_by_tasks(&call, summed, name##_task);                                                    \
    }                                                                                                           \
    INLINE double name(const row *r, const row_operand *operands, const element *absent, const vec *numbers) {  \
        if (HAS_THREADS && r->division) {                                                                       \
            name##_numbers copied;                                                                              \
            for (int i = 0; i < constants; i++) copied.of[i] = numbers[i];                                      \
            return name##_divided(r, operands, absent, copied);                                                 \
        }                                                                                                       \
        return row_map_chunks(r, operands, count, absent, numbers, expression, summed, 0, r->length, NULL);     \
    }

#include "reduce/row_tiles.h"

typedef struct rows {
    const lw_layout *layout;
    const void *const *inputs;
    char *out;
    const lw_scalar *parameters;
    row_function *function;
    int32_t input_count;
    int64_t count, per_task, length;
    row_division *division; /* NULL unless tasks divide each row */
    row_tiles tiles;
} rows;

static lw_status rows_task(lw_context *context, int64_t task, const void *argument) {
    const rows *all = argument;
    const lw_layout *layout = all->layout;
    int32_t outer = layout->ndim - layout->inner, inputs = all->input_count;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->count);
    int64_t line = outer ? layout->shape[outer - 1] : 1, step[LW_MAX_OPERANDS] = {0};
    row r = {.length = all->length, .parameters = all->parameters, .division = all->division};
    for (int32_t i = 0; i < inputs; i++) {
        r.in[i].stride = layout->inner ? layout->strides[i][outer] : 0;
    }
    r.out.stride = layout->inner ? layout->strides[inputs][outer] : 0;
    for (int32_t o = 0; o <= inputs && outer; o++) {
        if (o == inputs || all->inputs[o]) {
            step[o] = layout->strides[o][outer - 1];
        }
    }
    int is_cached = r.length <= ROW_MAX_CACHED && r.in[0].stride == ELEMENT_SIZE;
    PATH_IF(is_cached, "rows: prefetches the next row");
    PATH_IF(first % line, "rows: a task begins within a line");
    layout_iterator lines;
    iterator_start(&lines, layout, 0, outer ? outer - 1 : 0, inputs + 1, first / line);
    for (int64_t i = first, at = first % line; i < end; at = 0, iterator_next(&lines)) {
        for (int32_t o = 0; o < inputs; o++) {
            r.in[o].data = all->inputs[o] ? (const char *)all->inputs[o] + lines.offset[o] + at * step[o] : NULL;
        }
        r.out_data = all->out + lines.offset[inputs] + at * step[inputs];
        int64_t stop = min_int64(end, i + line - at);
        if (all->tiles.buffers) {
            row_tiles_run(&all->tiles, task, &r, stop - i, step, inputs, all->function);
            i = stop;
        }
        for (; i < stop; i++) {
            r.out.data = r.out_data;
            r.prefetch = r.in[0].data + (is_cached ? step[0] : 0);
            all->function(&r);
            for (int32_t o = 0; o < ROW_INPUTS; o++) {
                r.in[o].data += o < inputs ? step[o] : 0;
            }
            r.out_data += step[inputs];
        }
    }
    return LW_OK;
}

static lw_status run_rows(lw_context *context, const void *layout_argument, const void *const *inputs,
                          void *const *outputs, const lw_scalar *parameters, int32_t input_count,
                          row_function *function) {
    const lw_layout *layout = layout_argument;
    rows all = {.layout = layout, .inputs = inputs, .out = outputs[0], .parameters = parameters};
    all.function = function;
    all.input_count = input_count;
    all.count = layout_count(layout, 0, layout->ndim - layout->inner);
    all.length = layout_count(layout, layout->ndim - layout->inner, layout->ndim);
    if (all.count == 0 || all.length == 0) {
        return LW_OK;
    }
    if (HAS_THREADS && all.count < context->threads && all.length >= ROW_DIVIDED) {
        row_division division = {context, LW_OK};
        all.division = &division;
        all.per_task = all.count;
        rows_task(context, 0, &all);
        return division.status;
    }
    all.per_task = items_per_task(context, all.count, 1);
    int64_t tasks = divide_up(all.count, all.per_task);
    all.tiles = row_tiles_of(layout, input_count, all.length);
    if (all.tiles.reads || all.tiles.writes) {
        all.tiles.buffers = allocate_scratch(context, (size_t)(tasks * all.tiles.rows * all.tiles.step));
    }
    lw_status status = run_tasks(context, tasks, rows_task, &all);
    release_scratch(context, all.tiles.buffers);
    return status;
}

/* Defines the kernel lw_<op>_<dtype> from the row_function <op>_row. */
#define ROWS(op, input_count) \
    ELEMENT_KERNEL(op) { return run_rows(context, layout, inputs, outputs, parameters, input_count, op##_row); }
