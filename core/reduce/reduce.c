/* Cuts the elements that are reduced into blocks, divides these among tasks, and joins their results (reduce.h). */
#include "reduce/reduce.h"

#include "elementwise.h"

#include "layout/copy.h"
#include "layout/strided.h"

typedef struct reduction {
    const reducer *reducer;
    const lw_layout *layout;
    const void *const *inputs;
    char *out;
    const lw_scalar *parameters;
    int32_t kept;   /* number of dimensions that are not reduced */
    int64_t count;  /* reduced elements per output */
    int64_t chunk;  /* blocks per chunk, a part that a task can reduce on its own; a power of two */
    int64_t chunks; /* chunks per output: at least 1, which is empty if no elements are reduced */
    int64_t line;   /* outputs along the last kept dimension */
    int64_t width;  /* outputs per group, which are reduced together */
    int64_t groups; /* number of groups */
    int transposed; /* whether a group's elements are copied, so that its outputs are adjacent columns */
    const elementwise
        *cast[2];     /* of each input: converts its elements, or NULL if they are stored as they are reduced */
    int32_t size[2];  /* bytes of an element of each input in memory */
    int direct;       /* whether columns are reduced straight to outputs */
    int whole;        /* whether groups are single outputs with contiguous elements */
    int64_t per_task; /* groups per task */
    reduced *ready;   /* results of chunks, [group][chunk][width], if separate tasks compute them; else NULL */
} reduction;

enum {
    REDUCTION_CHUNK = (1 << 16) / REDUCE_BLOCK, /* the most blocks per chunk; a power of two */
    REDUCTION_FEW_GROUPS = 4, /* per thread; from this number on, tasks of whole groups keep all threads busy */
    REDUCTION_LINE = 64,      /* bytes of adjacent outputs, at least, that a task reduces */
    REDUCTION_SHORT = 16,     /* transposing a group saves time if at most this many elements per output are reduced, */
    REDUCTION_SCATTERED = 64  /* or this many that are not contiguous */
};

/* The addresses of a group's elements and outputs. */
typedef struct reduction_group {
    int64_t number, width;
    const char *in[2];
    char *out;
} reduction_group;

typedef struct reduction_iterator {
    layout_iterator lines;
    int64_t column, number;
} reduction_iterator;

static void reduction_start(reduction_iterator *it, const reduction *r, int64_t number) {
    int64_t per_line = divide_up(r->line, r->width);
    iterator_start(&it->lines, r->layout, 0, r->kept ? r->kept - 1 : 0, r->reducer->inputs + 1, number / per_line);
    it->column = number % per_line * r->width;
    it->number = number;
}

/* Returns an operand's stride in the last kept dimension, along which outputs are adjacent; 0 if none is kept. */
static int64_t reduction_step(const reduction *r, int32_t operand) {
    return r->kept ? r->layout->strides[operand][r->kept - 1] : 0;
}

static reduction_group reduction_next(reduction_iterator *it, const reduction *r) {
    int32_t inputs = r->reducer->inputs;
    reduction_group g = {.number = it->number, .width = min_int64(r->width, r->line - it->column)};
    for (int32_t o = 0; o < inputs; o++) {
        g.in[o] = (const char *)r->inputs[o] + it->lines.offset[o] + it->column * reduction_step(r, o);
    }
    g.out = r->out + it->lines.offset[inputs] + it->column * reduction_step(r, inputs);
    it->number++;
    it->column += r->width;
    if (it->column >= r->line) {
        it->column = 0;
        iterator_next(&it->lines);
    }
    return g;
}

/* Returns `count` of the elements that one output is computed from, beginning with element `start`: in place, or copied
 * to `packed` if they are not contiguous. */
static const char *reduction_gather(const reduction *r, const reduction_group *g, int32_t input, int64_t start,
                                    int64_t count, char *packed) {
    const lw_layout *layout = r->layout;
    const char *x = g->in[input];
    int32_t size = r->size[input], last = layout->ndim - 1;
    if (r->kept == layout->ndim || count == 0) {
        PATH("reduction: at most one element");
        return x; /* at most one element */
    }
    int64_t stride = layout->strides[input][last], run = layout->shape[last], at = start % run;
    int has_lines = last > r->kept;
    int64_t lines = has_lines ? layout->shape[last - 1] : 1, line = start / run % lines;
    int64_t line_step = has_lines ? layout->strides[input][last - 1] : 0;
    layout_iterator it;
    iterator_start(&it, layout, r->kept, last - has_lines, input + 1, start / run / lines);
    if (stride == size && at + count <= run) {
        PATH("reduction: within a row");
        return x + it.offset[input] + line * line_step + at * stride;
    }
    PATH("reduction: packed");
    PATH_IF(at > 0, "reduction: packed from within a row");
    for (int64_t done = 0; done < count;) {
        const char *from = x + it.offset[input] + line * line_step + at * stride;
        int64_t whole = at ? 0 : min_int64((count - done) / run, lines - line);
        int64_t n = whole ? whole * run : min_int64(count - done, run - at);
        if (whole) {
            PATH("reduction: packed whole rows");
            copied_rows rows = {{1, whole}, {0, run * size}, {0, line_step}};
            copy_rows(packed + done * size, size, from, stride, &rows, run, size);
        } else {
            copy_strided(packed + done * size, size, from, stride, n, size);
        }
        done += n;
        line += whole ? whole : at + n == run;
        at = 0;
        if (line == lines) {
            line = 0;
            iterator_next(&it);
        }
    }
    return packed;
}

/* Converts elements to a buffer, if they are stored in another dtype. Returns where the converted ones are. */
static const char *reduction_convert(const reduction *r, int32_t input, int64_t count, const char *stored,
                                     char *converted) {
    if (!r->cast[input]) {
        return stored;
    }
    PATH("reduction: converts elements");
    const void *from = stored;
    run_body(r->cast[input], count, 0, &from, converted, NULL);
    return converted;
}

/* Reduces columns to `results`, or straight to outputs. */
static inline void reduction_reduce_columns(const reduction *r, const reduction_group *g, const reduce_source *from,
                                            int64_t start, int64_t count, reduced *results) {
    PATH_IF(r->direct, "reduction: columns straight to outputs");
    if (r->direct) {
        r->reducer->outputs(from, count, g->width, g->out);
    } else {
        r->reducer->columns(from, start, count, g->width, results);
    }
}

/* Reduces a group whose outputs have few elements each: transposes it, then reduces columns. Not inlined, because its
 * buffers are large, and callers recurse. */
static __attribute__((noinline)) void reduction_transpose(const reduction *r, const reduction_group *g,
                                                          reduced *results) {
    int32_t inputs = r->reducer->inputs, last = r->layout->ndim - 1;
    char packed[2][REDUCTION_SHORT * REDUCE_MAX_COLUMNS * REDUCE_MAX_SIZE], converted[2][sizeof packed[0]];
    const char *columns[2];
    int64_t run = r->kept <= last ? r->layout->shape[last] : 1, step = r->width * r->reducer->size;
    layout_iterator it;
    iterator_start(&it, r->layout, r->kept, last, inputs, 0);
    for (int64_t i = 0; i < r->count; i += run, iterator_next(&it)) {
        for (int32_t o = 0; o < inputs; o++) {
            int64_t stored_step = r->width * r->size[o];
            copied_rows rows = {{1, run}, {0, stored_step}, {0, r->layout->strides[o][last]}};
            copy_rows(packed[o] + i * stored_step, r->size[o], g->in[o] + it.offset[o], reduction_step(r, o), &rows,
                      g->width, r->size[o]);
        }
    }
    for (int32_t o = 0; o < inputs; o++) {
        columns[o] = reduction_convert(r, o, r->count * r->width, packed[o], converted[o]);
    }
    reduce_source from = {columns[0], columns[inputs - 1], step, step};
    reduction_reduce_columns(r, g, &from, 0, r->count, results);
}

/* Reduces a block, with the index of its element if that is what a reducer returns. */
static inline void reduction_block(const reducer *reducer, const reduce_source *from, int64_t start, int64_t count,
                                   reduced *result) {
    reducer->block(from, start, count, result);
    if (reducer->place) {
        reducer->place(from, start, count, result);
    }
}

/* Reduces a block of one output whose elements are not all contiguous. Not inlined, because its buffers are large. */
static __attribute__((noinline)) void reduction_packed(const reduction *r, const reduction_group *g, int64_t start,
                                                       int64_t count, reduced *result) {
    char packed[REDUCE_BLOCK * REDUCE_MAX_SIZE], converted[2][REDUCE_BLOCK * REDUCE_MAX_SIZE];
    const char *in[2];
    for (int32_t o = 0; o < r->reducer->inputs; o++) {
        char *to = r->cast[o] ? packed : converted[o];
        in[o] = reduction_convert(r, o, count, reduction_gather(r, g, o, start, count, to), converted[o]);
    }
    reduce_source from = {.x = in[0], .y = in[r->reducer->inputs - 1]};
    reduction_block(r->reducer, &from, start, count, result);
}

/* Reduces one block of each output of a group. The elements that one output is computed from form a column. The columns
 * of the outputs are adjacent, in the inputs themselves or in a transposed copy. */
static void reduction_columns(const reduction *r, const reduction_group *g, int64_t block, reduced *results) {
    PATH_EITHER(r->transposed, "reduction: transposed group", "reduction: adjacent columns");
    PATH_IF(block > 0, "reduction: another block of columns");
    if (r->transposed) {
        reduction_transpose(r, g, results);
        return;
    }
    int64_t start = block * REDUCE_BLOCK, count = min_int64(r->count - start, REDUCE_BLOCK);
    int32_t last = r->reducer->inputs - 1; /* operand that is read as y; with one input, x again */
    reduce_source from = {.x_stride = r->layout->strides[0][r->kept], .y_stride = r->layout->strides[last][r->kept]};
    from.x = g->in[0] + start * from.x_stride;
    from.y = g->in[last] + start * from.y_stride;
    reduction_reduce_columns(r, g, &from, start, count, results);
}

/* Returns whether further elements cannot change a result. */
static inline int reduction_is_decided(const reducer *reducer, const reduced *result) {
    int is_true = *(const char *)&result->bits != 0;
    return reducer->decision == REDUCE_DECIDED_BY_TRUE ? is_true
                                                       : reducer->decision == REDUCE_DECIDED_BY_FALSE && !is_true;
}

/* Returns the number of elements in chunks first .. first + chunks - 1. */
static int64_t reduction_count(const reduction *r, int64_t first, int64_t chunks) {
    int64_t size = REDUCE_BLOCK * r->chunk;
    return min_int64((first + chunks) * size, r->count) - first * size;
}

/* Reduces the blocks of one chunk, then joins their results level by level. Uses loops, because their branches are
 * predictable, unlike those of a recursion. */
static void reduction_chunk(const reduction *r, const reduction_group *g, int64_t chunk, reduced *results) {
    if (r->width > 1) {
        reduction_columns(r, g, chunk, results);
        return;
    }
    const reducer *reducer = r->reducer;
    reduced part[REDUCTION_CHUNK];
    int64_t start = chunk * r->chunk * REDUCE_BLOCK, count = reduction_count(r, chunk, 1), blocks = 0;
    int64_t step = REDUCE_BLOCK * reducer->size, at = chunk * r->chunk * step;
    reduce_source from = {.x = g->in[0] + at, .y = g->in[reducer->inputs - 1] + at};
    for (int64_t done = 0; done < count || blocks == 0; done += REDUCE_BLOCK, from.x += step, from.y += step) {
        int64_t n = min_int64(count - done, REDUCE_BLOCK);
        if (r->whole) {
            reducer->block(&from, start + done, n, part + blocks++);
        } else {
            reduction_packed(r, g, start + done, n, part + blocks++);
        }
        if (reduction_is_decided(reducer, part + blocks - 1)) {
            PATH_IF(done + n < count, "reduction: decided by a block");
            *results = part[blocks - 1];
            return;
        }
    }
    PATH_EITHER(blocks == 1, "reduction: chunk of one block", "reduction: chunk of several blocks");
    PATH_IF(blocks > 1 && (blocks & (blocks - 1)), "reduction: blocks not a power of two");
    for (int64_t n = 1; n < blocks; n *= 2) {
        for (int64_t b = 0; b + n < blocks; b += 2 * n) {
            reducer->join(part + b, n * REDUCE_BLOCK, part + b + n,
                          min_int64(n * REDUCE_BLOCK, count - (b + n) * REDUCE_BLOCK));
        }
    }
    *results = part[0];
    if (r->whole && reducer->place) { /* in the block that has the element, alone */
        int64_t at = part[0].choice.index;
        from.x = g->in[0] + at * reducer->size;
        reducer->place(&from, at, min_int64(start + count - at, REDUCE_BLOCK), results);
    }
}

/* Reduces chunks by a tree: the number of chunks in the left subtree is the largest power of two below `chunks`; all
 * further chunks are in the right subtree. */
static void reduction_tree(const reduction *r, const reduction_group *g, int64_t first, int64_t chunks,
                           reduced *results) {
    if (chunks == 1) {
        PATH_IF(r->ready, "reduction: chunks of separate tasks");
        if (!r->ready) {
            reduction_chunk(r, g, first, results);
            return;
        }
        const reduced *ready = r->ready + (g->number * r->chunks + first) * r->width;
        for (int64_t c = 0; c < g->width; c++) {
            results[c] = ready[c];
        }
        return;
    }
    PATH("reduction: several chunks");
    PATH_IF(chunks == 3, "reduction: chunks not a power of two");
    int64_t left = reduce_left(chunks);
    reduced right[REDUCE_MAX_COLUMNS];
    reduction_tree(r, g, first, left, results);
    if (g->width == 1 && reduction_is_decided(r->reducer, results)) {
        PATH("reduction: decided by a chunk");
        return;
    }
    reduction_tree(r, g, first + left, chunks - left, right);
    int64_t left_count = reduction_count(r, first, left), right_count = reduction_count(r, first + left, chunks - left);
    for (int64_t c = 0; c < g->width; c++) {
        r->reducer->join(results + c, left_count, right + c, right_count);
    }
}

/* Computes outputs first .. end - 1, each from one contiguous block. */
static void reduction_lines(const reduction *r, int64_t first, int64_t end) {
    const reducer *reducer = r->reducer;
    int32_t inputs = reducer->inputs, last = inputs - 1;
    layout_iterator it;
    iterator_start(&it, r->layout, 0, r->kept ? r->kept - 1 : 0, inputs + 1, first / r->line);
    for (int64_t column = first % r->line; first < end; column = 0, iterator_next(&it)) {
        int64_t stop = min_int64(end, first + r->line - column);
        reduce_source from = {.x = (const char *)r->inputs[0] + it.offset[0] + column * reduction_step(r, 0),
                              .y = (const char *)r->inputs[last] + it.offset[last] + column * reduction_step(r, last)};
        char *out = r->out + it.offset[inputs] + column * reduction_step(r, inputs);
        for (; first < stop; first++) {
            reduced total;
            reduction_block(reducer, &from, 0, r->count, &total);
            reducer->finish(&total, 1, r->count, r->parameters, out, 0);
            from.x += reduction_step(r, 0);
            from.y += reduction_step(r, last);
            out += reduction_step(r, inputs);
        }
    }
}

/* Task: reduces whole groups. */
static lw_status reduction_groups(lw_context *context, int64_t task, const void *argument) {
    const reduction *r = argument;
    int64_t first = task * r->per_task, end = min_int64(first + r->per_task, r->groups);
    int64_t out_stride = reduction_step(r, r->reducer->inputs);
    if (r->whole && r->count <= REDUCE_BLOCK) {
        PATH("reduction: lines");
        PATH_IF(first % r->line, "reduction: a task begins within a line");
        reduction_lines(r, first, end);
        return LW_OK;
    }
    reduction_iterator it;
    reduction_start(&it, r, first);
    for (int64_t i = first; i < end; i++) {
        reduction_group g = reduction_next(&it, r);
        reduced results[REDUCE_MAX_COLUMNS];
        reduction_tree(r, &g, 0, r->chunks, results);
        if (r->direct) {
            continue;
        }
        r->reducer->finish(results, g.width, r->count, r->parameters, g.out, out_stride);
    }
    return LW_OK;
}

/* Task: reduces one chunk of one group into `ready`. */
static lw_status reduction_chunks(lw_context *context, int64_t task, const void *argument) {
    const reduction *r = argument;
    reduction_iterator it;
    reduction_start(&it, r, task / r->chunks);
    reduction_group g = reduction_next(&it, r);
    reduction_chunk(r, &g, task % r->chunks, r->ready + task * r->width);
    return LW_OK;
}

/* Returns whether the elements of every output are contiguous. */
static inline int reduction_is_whole(const lw_layout *layout, const reducer *reducer) {
    int32_t last = layout->ndim - 1;
    return !layout->converted && layout->inner == 1 && layout->strides[0][last] == reducer->size &&
           layout->strides[reducer->inputs - 1][last] == reducer->size;
}

static __attribute__((noinline)) lw_status reduce_any(lw_context *context, const lw_layout *layout,
                                                      const void *const *inputs, void *const *outputs,
                                                      const lw_scalar *parameters, const reducer *reducer) {
    reduction r = {.reducer = reducer, .layout = layout, .inputs = inputs, .out = outputs[0], .parameters = parameters};
    r.kept = layout->ndim - layout->inner;
    r.count = layout_count(layout, r.kept, layout->ndim);
    int64_t total = layout_count(layout, 0, r.kept);
    if (total == 0) {
        return LW_OK;
    }
    if (reducer->place && r.count == 1 && layout->ndim > 0) {
        PATH("index reduction: of one element each");
        return fill_zero_indices(context, layout, outputs[0]);
    }
    r.line = r.kept ? layout->shape[r.kept - 1] : 1;
    int adjacent = r.kept && layout->inner == 1 && r.line >= 4;
    for (int32_t o = 0; o < reducer->inputs; o++) {
        int is_converted = layout->converted >> o & 1;
        r.cast[o] = is_converted ? elementwise_casts[layout->dtypes[o]][layout->dtypes[reducer->inputs]] : NULL;
        r.size[o] = is_converted ? r.cast[o]->size[0] : reducer->size;
        adjacent &= !is_converted && reduction_step(&r, o) == reducer->size;
    }
    int is_whole = reduction_is_whole(layout, reducer);
    r.transposed = !adjacent && r.line >= 4 && r.count <= (is_whole ? REDUCTION_SHORT : REDUCTION_SCATTERED);
    r.width = adjacent || r.transposed ? REDUCE_MAX_COLUMNS : 1;
    while (r.transposed && r.count * r.width > REDUCTION_SHORT * REDUCE_MAX_COLUMNS) {
        r.width /= 2;
    }
    int64_t lines = total / r.line, blocks = divide_up(r.count, REDUCE_BLOCK);
    while (adjacent && r.width * reducer->size > REDUCTION_LINE &&
           lines * divide_up(r.line, r.width) * blocks < context->tasks) {
        r.width /= 2; /* so that all threads have columns */
    }
    r.groups = total / r.line * divide_up(r.line, r.width);
    r.whole = r.width == 1 && is_whole;
    r.chunk = r.width > 1 ? 1 : REDUCTION_CHUNK;
    while (r.chunk > 1 && r.groups * divide_up(r.count, REDUCE_BLOCK * r.chunk) < context->tasks) {
        r.chunk /= 2; /* the result stays the same, because chunks are subtrees of one tree */
    }
    r.chunks = r.count ? divide_up(r.count, REDUCE_BLOCK * r.chunk) : 1;
    r.direct = reducer->outputs && r.width > 1 && r.count && r.chunks == 1 &&
               reduction_step(&r, reducer->inputs) == reducer->size;

    /* If there are few groups of several chunks each, tasks reduce the chunks; then the tree joins their results. */
    r.per_task = r.groups;
    if (r.chunks > 1 && r.groups < REDUCTION_FEW_GROUPS * context->threads && context->tasks > 1) {
        r.ready = allocate_scratch(context, (size_t)(r.groups * r.chunks * r.width) * sizeof(reduced));
        if (r.ready) {
            lw_status status = run_tasks(context, r.groups * r.chunks, reduction_chunks, &r);
            if (status == LW_OK) {
                status = reduction_groups(context, 0, &r);
            }
            release_scratch(context, r.ready);
            return status;
        }
    }
    r.per_task = items_per_task(context, r.groups, 1);
    return run_tasks(context, divide_up(r.groups, r.per_task), reduction_groups, &r);
}

/* A small contiguous layout is a single block, and needs neither groups nor tasks. */
lw_status reduce(lw_context *context, const void *layout_argument, const void *const *inputs, void *const *outputs,
                 const lw_scalar *parameters, const reducer *reducer) {
    const lw_layout *layout = layout_argument;
    lw_kernel *own = layout->converted && reducer->own ? reducer->own[layout->dtypes[0]] : NULL;
    if (own) {
        PATH("reduction: reduces as stored");
        lw_layout stored = *layout;
        stored.converted = 0;
        return own(context, &stored, inputs, outputs, parameters);
    }
    if (layout->ndim != 1 || layout->shape[0] > REDUCE_BLOCK || !reduction_is_whole(layout, reducer)) {
        return reduce_any(context, layout, inputs, outputs, parameters, reducer);
    }
    PATH("reduction: one contiguous block");
    int64_t count = layout->shape[0];
    reduce_source from = {.x = inputs[0], .y = inputs[reducer->inputs - 1]};
    reduced total;
    reduction_block(reducer, &from, 0, count, &total);
    reducer->finish(&total, 1, count, parameters, outputs[0], 0);
    return LW_OK;
}
