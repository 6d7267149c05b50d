#include "elementwise.h"

#include "elementwise_rows.h"
#include "layout/copy.h"
#include "layout/stream.h"
#include "layout/strided.h"

enum {
    BUFFER = 4096,     /* bytes of an operand that are copied at a time: the buffers of four take 16 KB, within L1 */
    APART = 128,       /* bytes between buffers: addresses a multiple of 4096 apart look alike to processors */
    CACHE_LINE = 64,   /* elements of one byte; tasks begin at multiples of it, so they do not write to one line */
    TILE_COLUMNS = 64, /* elements */
    TILE_LEAST = 4,    /* rows and columns of a matrix; smaller ones are not cut into tiles */
    LONG_ROW = 24,     /* for rows of at least this length, one call of a short body per row is cheaper than copying */
    LONG_ROW_TO_COMPUTE = 64, /* the same for other bodies, for which vectors that are not full cost more */
    LONG_REPEATED = 192       /* the same for a single row that is repeated: it is copied only once */
};

/* How an operand is passed to the body. */
typedef enum passage {
    IN_PLACE, /* contiguous */
    BY_ROW,   /* in place, row by row: the last dimension is contiguous and long */
    COLUMN,   /* by row, too: an input with a single element for each long row, which is held */
    FILLED,   /* a single element, held, or repeated in a buffer that is filled once */
    REPEATED, /* a single short row, repeated in a buffer that is filled once */
    PACKED,   /* copied chunk by chunk: an input to a buffer, or a result from a buffer */
    STREAMED  /* a contiguous result larger than the caches: computed in a buffer, then written with streaming stores */
} passage;

typedef struct elementwise_call {
    const elementwise *kernel;
    const elementwise *cast[LW_MAX_OPERANDS]; /* converts the operand; NULL if it is stored as the kernel computes it */
    int32_t size[LW_MAX_OPERANDS];            /* of an element in memory */
    const lw_layout *layout;
    char *data[LW_MAX_OPERANDS];
    const lw_scalar *parameters;
    int64_t total, per_task;
    int64_t row;       /* length of the last dimension; the total if all operands are contiguous or FILLED */
    int64_t max_count; /* maximum elements that are computed at a time */
    int by_row;        /* whether there are operands BY_ROW or a COLUMN */
    body_rows rows;    /* as they are computed, in place or in buffers */
    int64_t stored_step[LW_MAX_OPERANDS]; /* rows.step before an input is converted and after the result is */
    int64_t lead; /* elements in a task's first call, chosen so that later calls begin at a cache line boundary */
    passage passage[LW_MAX_OPERANDS];
} elementwise_call;

static int is_contiguous(const lw_layout *layout, int32_t operand, int64_t size) {
    for (int32_t d = layout->ndim - 1; d >= 0; d--) {
        if (layout->shape[d] != 1 && layout->strides[operand][d] != size) {
            return 0;
        }
        size *= layout->shape[d];
    }
    return 1;
}

/* Returns whether the body can hold an operand. */
static int can_hold(const elementwise_call *call, int32_t operand) {
    int32_t last = call->kernel->operands - 1;
    return BODY_HOLDS && last > 1 && operand < last;
}

/* Returns whether a body is to be called for each row, rather than copying rows. */
static int has_long_rows(const elementwise *kernel, const lw_layout *layout) {
    return layout->shape[layout->ndim - 1] >= (kernel->is_short ? LONG_ROW : LONG_ROW_TO_COMPUTE);
}

static passage choose_passage(const elementwise_call *call, int32_t operand) {
    const lw_layout *layout = call->layout;
    int32_t size = call->size[operand];
    if (is_contiguous(layout, operand, size)) {
        return IN_PLACE;
    }
    const int64_t *strides = layout->strides[operand];
    int32_t last = layout->ndim - 1;
    int64_t outer = 0;
    for (int32_t d = 0; d < last; d++) {
        outer |= strides[d];
    }
    if ((outer | strides[last]) == 0) {
        return FILLED;
    }
    if (outer == 0 && layout->shape[last] < LONG_REPEATED) {
        return REPEATED;
    }
    int is_long = has_long_rows(call->kernel, layout);
    return is_long && strides[last] == size                           ? BY_ROW
           : is_long && strides[last] == 0 && can_hold(call, operand) ? COLUMN
                                                                      : PACKED;
}

static int is_by_row(const elementwise_call *call, int32_t operand) {
    return call->passage[operand] == BY_ROW || call->passage[operand] == COLUMN;
}

/* Advances the iterator by `rows` rows of the layout. */
static void skip_rows(layout_iterator *it, int64_t rows) {
    int32_t d = it->end - 1;
    while (rows > 0 && d >= it->first) {
        int64_t part = min_int64(rows, it->layout->shape[d] - it->index[d]);
        it->index[d] += part - 1;
        for (int32_t o = 0; o < it->operands; o++) {
            it->offset[o] += (part - 1) * it->layout->strides[o][d];
        }
        iterator_next(it); /* also carries into the dimensions before d */
        rows -= part;
    }
}

/* Copies rows of `columns` elements of an operand, the first of which is at `place`, to the buffer, or from the buffer
 * if `unpack` is true. */
static void transfer_rows(const elementwise_call *call, int32_t operand, char *place, int64_t rows, int64_t columns,
                          char *buffer, int unpack) {
    const int64_t *strides = call->layout->strides[operand];
    int32_t size = call->size[operand], last = call->layout->ndim - 1;
    int64_t step = strides[last], row_step = last ? strides[last - 1] : 0;
    if (unpack) {
        copied_rows to = {{1, rows}, {0, row_step}, {0, columns * size}};
        copy_rows(place, step, buffer, size, &to, columns, size);
    } else {
        copied_rows from = {{1, rows}, {0, columns * size}, {0, row_step}};
        copy_rows(buffer, size, place, step, &from, columns, size);
    }
}

/* Does that for `count` elements, starting at element `column` of the current row. */
static void transfer(const elementwise_call *call, layout_iterator it, int64_t column, int64_t count, int32_t operand,
                     char *buffer, int unpack) {
    int32_t last = call->layout->ndim - 1;
    while (count > 0) {
        int64_t part = min_int64(call->row - column, count), rows = 1;
        if (column == 0 && count >= 2 * part && last > 0) {
            rows = min_int64(count / part, call->layout->shape[last - 1] - it.index[last - 1]);
            PATH_IF(rows > 1, "elementwise: copies several rows");
        }
        char *place = call->data[operand] + it.offset[operand] + column * call->layout->strides[operand][last];
        transfer_rows(call, operand, place, rows, part, buffer, unpack);
        buffer += rows * part * call->size[operand];
        count -= rows * part;
        column = 0;
        skip_rows(&it, rows);
    }
}

void elementwise_tail(const elementwise *kernel, int64_t whole, int64_t tail, const void *const *inputs, void *output,
                      const lw_scalar *parameters) {
    _Alignas(16) char buffer[LW_MAX_OPERANDS][VF32_LANES * 8] = {0}; /* a vector of each */
    const void *padded[LW_MAX_OPERANDS];
    int32_t last = kernel->operands - 1;
    for (int32_t o = 0; o < last; o++) {
        int32_t size = kernel->size[o];
        copy_strided(buffer[o], size, (const char *)inputs[o] + whole * size, size, tail, size);
        padded[o] = buffer[o];
    }
    kernel->body(kernel->lanes, 0, padded, buffer[last], parameters);
    int32_t size = kernel->size[last];
    copy_strided((char *)output + whole * size, size, buffer[last], size, tail, size);
}

void elementwise_streamed(const elementwise *kernel, int64_t count, const void *const *inputs, char *output,
                          const lw_scalar *parameters) {
    _Alignas(64) char buffer[BUFFER];
    const void *arrays[LW_MAX_OPERANDS];
    int32_t last = kernel->operands - 1, size = kernel->size[last];
    int64_t part = 1;
    for (int64_t done = 0; done < count; done += part) {
        part = min_int64(count - done, BUFFER / size);
        for (int32_t o = 0; o < last; o++) {
            arrays[o] = (const char *)inputs[o] + done * kernel->size[o];
        }
        PATH_IF(SIMD_STREAM && done > 0, "elementwise: streams several chunks of a part");
        run_body(kernel, part, 0, arrays, buffer, parameters);
        stream_copy(output + done * size, buffer, part * size);
    }
    if (SIMD_STREAM) {
        stream_end();
    }
}

static lw_status elementwise_task(lw_context *context, int64_t task, const void *argument) {
    const elementwise_call *call = argument;
    const elementwise *kernel = call->kernel;
    int32_t inputs = kernel->operands - 1, last = call->layout->ndim - 1;
    int64_t position = task * call->per_task, end = min_int64(position + call->per_task, call->total);
    _Alignas(64) char buffer[LW_MAX_OPERANDS - 1][BUFFER + APART];
    _Alignas(64) char unconverted[BUFFER]; /* elements of one operand as they are stored */
    layout_iterator it;
    int64_t row = position ? position / call->row : 0; /* a division takes as long as adding 64 elements */
    int64_t column = position - row * call->row;
    iterator_start(&it, call->layout, 0, last, kernel->operands, row);
    int64_t first = min_int64(end - position, call->max_count);
    for (int32_t o = 0; o < inputs; o++) {
        char *stored = call->cast[o] ? unconverted : buffer[o];
        int64_t filled = call->rows.held >> o & 1 ? HELD_BYTES / kernel->size[o] : first;
        if (call->passage[o] == FILLED) {
            PATH("elementwise: filled");
            transfer_rows(call, o, call->data[o], 1, filled, stored, 0);
        } else if (call->passage[o] == REPEATED) {
            PATH("elementwise: repeated");
            PATH_IF(column > 0, "elementwise: repeated, from within a row");
            transfer(call, it, column, first, o, stored, 0);
        } else {
            continue;
        }
        if (call->cast[o]) {
            PATH("elementwise: converts an input");
            run_body(call->cast[o], filled, 0, (const void *const *)&stored, buffer[o], NULL);
        }
    }
    for (int64_t max_count = SIMD_STREAM && call->lead ? call->lead : call->max_count; position < end;
         max_count = call->max_count) {
        int64_t count = min_int64(end - position, max_count);
        if (call->by_row) { /* within the rows that are one step apart */
            int64_t rows = call->layout->shape[last - 1] - it.index[last - 1];
            PATH_IF(rows * call->row - column < count, "elementwise: by row, in several matrices");
            count = min_int64(count, rows * call->row - column);
        }
        char *stored[LW_MAX_OPERANDS]; /* where the elements are in memory, or in a buffer if they are copied */
        const void *arrays[LW_MAX_OPERANDS];
        for (int32_t o = 0; o <= inputs; o++) {
            int32_t size = call->size[o];
            stored[o] = call->cast[o] ? unconverted : buffer[o];
            if (call->passage[o] == IN_PLACE) {
                PATH("elementwise: in place");
                stored[o] = call->data[o] + position * size;
            }
            if (is_by_row(call, o)) {
                PATH("elementwise: by row");
                PATH_IF(column > 0, "elementwise: by row, from within a row");
                stored[o] = call->data[o] + it.offset[o] + column * call->layout->strides[o][last];
            }
            if (call->passage[o] == PACKED && o < inputs) {
                PATH("elementwise: packed");
                PATH_IF(column > 0, "elementwise: packed, from within a row");
                transfer(call, it, column, count, o, stored[o], 0);
            }
            arrays[o] = call->cast[o] ? buffer[o] : stored[o];
            if (BODY_HOLDS && call->cast[o] && call->passage[o] == COLUMN) {
                PATH("elementwise: converts a column");
                int64_t rows = divide_up(column + count, call->row);
                copy_strided(unconverted, size, stored[o], call->stored_step[o], rows, size);
                run_body(call->cast[o], rows, 0, (const void *[]){unconverted}, buffer[o], NULL);
            } else if (o < inputs && call->cast[o] && call->passage[o] != FILLED && call->passage[o] != REPEATED) {
                PATH("elementwise: converts an input");
                convert(call->cast[o], column, count, call->row, stored[o], call->stored_step[o], buffer[o],
                        call->rows.step[o]);
            }
        }
        run_body_rows(kernel, &call->rows, column, count, arrays, (char *)arrays[inputs], call->parameters);
        if (call->cast[inputs]) {
            PATH("elementwise: converts the result");
            convert(call->cast[inputs], column, count, call->row, arrays[inputs], call->rows.step[inputs],
                    stored[inputs], call->stored_step[inputs]);
        }
        if (call->passage[inputs] == PACKED) {
            PATH("elementwise: packed result");
            PATH_IF(column > 0, "elementwise: packed result, from within a row");
            transfer(call, it, column, count, inputs, stored[inputs], 1);
        }
        if (SIMD_STREAM && call->passage[inputs] == STREAMED) {
            int32_t size = call->size[inputs];
            PATH("elementwise: streamed");
            stream_copy(call->data[inputs] + position * size, stored[inputs], count * size);
        }
        position += count;
        column += count;
        if (column >= call->row && position < end) {
            skip_rows(&it, column / call->row);
            column %= call->row;
        }
    }
    if (SIMD_STREAM && call->passage[inputs] == STREAMED) {
        stream_end();
    }
    return LW_OK;
}

/* Returns how many rows a tile has: whole cache lines of a column, if several fit. */
static int64_t tile_rows(int64_t elements, int64_t columns) {
    int64_t rows = elements / columns;
    return rows > CACHE_LINE ? rows / CACHE_LINE * CACHE_LINE : rows;
}

/* A tile: some rows and columns of the matrices of the last two dimensions. */
typedef struct tile {
    int64_t row, column, rows, columns;
} tile;

/* Copies a tile of an operand to a buffer, or back to the operand if `unpack` is true. */
static void transfer_tile(const elementwise_call *call, const layout_iterator *it, const tile *t, int32_t operand,
                          char *buffer, int unpack) {
    const int64_t *strides = call->layout->strides[operand];
    int32_t last = call->layout->ndim - 1;
    char *place = call->data[operand] + it->offset[operand] + t->row * strides[last - 1] + t->column * strides[last];
    transfer_rows(call, operand, place, t->rows, t->columns, buffer, unpack);
}

/* Task: computes tiles, which are copied to buffers, those of a transposed operand by whole cache lines. Rows of an
 * operand that are contiguous are left in place. */
static lw_status elementwise_tiles(lw_context *context, int64_t task, const void *argument) {
    const elementwise_call *call = argument;
    const lw_layout *layout = call->layout;
    int32_t result = call->kernel->operands - 1, last = layout->ndim - 1;
    int64_t columns = min_int64(layout->shape[last], TILE_COLUMNS), rows = tile_rows(call->max_count, columns);
    int64_t across = divide_up(layout->shape[last], columns), down = divide_up(layout->shape[last - 1], rows);
    int64_t number = task * call->per_task, end = min_int64(number + call->per_task, call->total);
    _Alignas(64) char buffer[LW_MAX_OPERANDS][BUFFER + APART], unconverted[BUFFER];
    int in_place[LW_MAX_OPERANDS];
    body_rows within = {0};
    for (int32_t o = 0; o <= result; o++) {
        const int64_t *strides = layout->strides[o];
        int is_row = strides[last] == call->size[o], is_long = has_long_rows(call->kernel, layout),
            is_dense = is_row && strides[last - 1] == layout->shape[last] * call->size[o];
        in_place[o] = !call->cast[o] && ((is_row && is_long) || is_dense);
        if (is_long && strides[last] == 0 && can_hold(call, o) && !call->cast[o]) {
            PATH_IF(BODY_HOLDS, "elementwise: tiles of a column");
            in_place[o] = 1;
            within.columns |= 1u << o;
        }
    }
    layout_iterator it;
    iterator_start(&it, layout, 0, last - 1, result + 1, number / (down * across));
    for (int64_t at = number % (down * across); number < end; number++) {
        tile t = {at / across * rows, at % across * columns, 0, 0};
        t.rows = min_int64(layout->shape[last - 1] - t.row, rows);
        t.columns = min_int64(layout->shape[last] - t.column, columns);
        const void *arrays[LW_MAX_OPERANDS];
        within.length = t.columns;
        for (int32_t o = 0; o <= result; o++) {
            const int64_t *strides = layout->strides[o];
            within.step[o] = in_place[o] ? strides[last - 1] : t.columns * call->kernel->size[o];
            arrays[o] = buffer[o];
            if (in_place[o]) {
                arrays[o] = call->data[o] + it.offset[o] + t.row * strides[last - 1] + t.column * strides[last];
            } else if (o < result) {
                char *stored = call->cast[o] ? unconverted : buffer[o];
                transfer_tile(call, &it, &t, o, stored, 0);
                if (call->cast[o]) {
                    PATH("elementwise: converts tiles of an input");
                    run_body(call->cast[o], t.rows * t.columns, 0, (const void *const *)&stored, buffer[o], NULL);
                }
            }
        }
        run_body_rows(call->kernel, &within, 0, t.rows * t.columns, arrays, (char *)arrays[result], call->parameters);
        char *computed = buffer[result];
        if (call->cast[result]) {
            PATH("elementwise: converts tiles of the result");
            run_body(call->cast[result], t.rows * t.columns, 0, &arrays[result], unconverted, NULL);
            computed = unconverted;
        }
        if (!in_place[result]) {
            PATH("elementwise: tiles of the result");
            transfer_tile(call, &it, &t, result, computed, 1);
        }
        if (++at == down * across) {
            at = 0;
            iterator_next(&it);
        }
    }
    return LW_OK;
}

/* Returns the dimension along which elements of a copied operand are adjacent, if operands are to be copied by tiles;
 * else -1. */
static int32_t tiled_dimension(const elementwise_call *call) {
    const lw_layout *layout = call->layout;
    for (int32_t o = 0; o < call->kernel->operands; o++) {
        int32_t d = call->passage[o] == PACKED ? layout_column(layout, o, call->size[o]) : -1;
        if (d >= 0 && layout->shape[d] >= TILE_LEAST && layout->shape[layout->ndim - 1] >= TILE_LEAST) {
            return d;
        }
    }
    return -1;
}

/* Returns whether to stream the result. A result that is also an input is not streamed, because its memory is already
 * in the caches. On Zen 4, streaming makes an addition of 8M elements 1.4 times as fast and relu 1.2 times as fast; on
 * an Intel Xeon, it makes both 1.06 times as fast. Long bodies produce results too slowly to profit: on the Xeon, exp,
 * tanh and sin of 16M elements would take 1.4 times as long. */
static int is_streamed(const elementwise_call *call, const lw_context *context) {
    int32_t last = call->kernel->operands - 1;
    int in_place = 0;
    for (int32_t o = 0; o < last; o++) {
        in_place |= call->data[o] == call->data[last];
    }
    return call->kernel->is_short && call->passage[last] == IN_PLACE && !in_place &&
           stream_pays(context, call->total * call->size[last]);
}

/* Returns the kernel for the dtype in which all operands are stored; NULL if there is none. */
static const elementwise *own_kernel(const elementwise *kernel, const lw_layout *layout) {
    int32_t last = kernel->operands - 1;
    const elementwise *own = kernel->own && layout->converted ? kernel->own[layout->dtypes[0]] : NULL;
    for (int32_t o = 0; own && o <= last; o++) {
        int stored = layout->converted >> o & 1 ? layout->dtypes[o] : kernel->dtype[o];
        int expected = o < last || own->dtype[last] != LW_BOOL ? layout->dtypes[0] : LW_BOOL;
        own = stored == expected ? own : NULL;
    }
    return own;
}

lw_status elementwise_any(const elementwise *kernel, lw_context *context, const lw_layout *layout,
                          const void *const *inputs, void *const *outputs, const lw_scalar *parameters) {
    const elementwise *own = own_kernel(kernel, layout);
    uint32_t converted = own ? 0 : layout->converted;
    if (own) {
        PATH("elementwise: computes as stored");
        kernel = own;
        if (is_simple(kernel, context, layout)) {
            return run_simple(kernel, context, layout, inputs, outputs[0], parameters);
        }
    }
    int32_t last = kernel->operands - 1;
    elementwise_call call = {.kernel = kernel, .layout = layout, .parameters = parameters};
    call.total = layout_count(layout, 0, layout->ndim);
    int copies = kernel->dtype[0] < 0 && last == 1;
    call.size[0] = kernel->size[0];
    if (copies && call.total > 1 && choose_passage(&call, 0) != FILLED) {
        PATH("elementwise: copies");
        return copy_layout(context, layout, inputs[0], outputs[0], kernel->size[0]);
    }
    if (call.total == 0 || (call.total == 1 && !converted)) {
        if (call.total) {
            PATH("elementwise: one element");
            run_body(kernel, 1, 0, inputs, outputs[0], parameters);
        }
        return LW_OK;
    }
    for (int32_t o = 0; o < last; o++) {
        call.data[o] = (char *)inputs[o];
    }
    call.data[last] = outputs[0];
    call.row = call.total;
    int64_t chunk = BUFFER, is_buffered = 0;
    for (int32_t o = 0; o <= last; o++) {
        call.size[o] = kernel->size[o];
        if (converted >> o & 1) {
            int stored = layout->dtypes[o], computed = kernel->dtype[o];
            call.cast[o] = o < last ? elementwise_casts[stored][computed] : elementwise_casts[computed][stored];
            call.size[o] = call.cast[o]->size[o == last];
        }
        chunk = min_int64(chunk, BUFFER / (call.size[o] > kernel->size[o] ? call.size[o] : kernel->size[o]));
        call.passage[o] = choose_passage(&call, o);
        call.by_row |= is_by_row(&call, o);
    }
    for (int32_t o = 0; o <= last; o++) {
        if (call.passage[o] == REPEATED && (call.by_row || o == last)) {
            /* Chunks begin at any column; and of results, this is one strided row. */
            PATH_IF(o < last, "elementwise: repeated by row");
            call.passage[o] = layout->strides[o][layout->ndim - 1] == call.size[o] ? BY_ROW : PACKED;
        }
        int is_held = BODY_HOLDS && last > 1 && call.passage[o] == FILLED;
        call.rows.held |= (uint32_t)is_held << o;
        call.rows.columns |= (uint32_t)(call.passage[o] == COLUMN) << o;
        is_buffered |= (call.cast[o] || call.passage[o] >= FILLED) && !is_held;
        if (call.passage[o] != IN_PLACE && call.passage[o] != FILLED) {
            call.row = layout->shape[layout->ndim - 1];
        }
    }
    if (SIMD_STREAM && is_streamed(&call, context)) {
        call.passage[last] = STREAMED;
        is_buffered = 1;
        call.lead = stream_lead(call.data[last]) / call.size[last];
    }
    call.max_count = is_buffered ? min_int64(call.total, chunk) : call.total;
    call.rows.length = call.row;
    for (int32_t o = 0; o <= last; o++) {
        call.stored_step[o] = is_by_row(&call, o) ? layout->strides[o][layout->ndim - 2] : call.row * call.size[o];
        call.rows.step[o] = call.rows.held >> o & 1                      ? 0
                            : call.cast[o] && call.rows.columns >> o & 1 ? kernel->size[o]
                            : call.cast[o]                               ? call.row * kernel->size[o]
                                                                         : call.stored_step[o];
        if (call.passage[o] == REPEATED) { /* whole rows per call, so that all calls begin at the same column */
            call.max_count = chunk / call.row * call.row;
            PATH_IF(SIMD_STREAM && call.lead, "elementwise: streamed and repeated");
            call.lead = 0;
        }
    }
    lw_layout tiled;
    int32_t column = tiled_dimension(&call);
    if (column >= 0) {
        PATH("elementwise: tiles");
        tiled = *layout;
        layout_move(&tiled, column, tiled.ndim - 2, kernel->operands);
        call.layout = &tiled;
        call.max_count = chunk;
        int64_t columns = min_int64(tiled.shape[tiled.ndim - 1], TILE_COLUMNS);
        int64_t down = divide_up(tiled.shape[tiled.ndim - 2], tile_rows(chunk, columns));
        call.total = layout_count(&tiled, 0, tiled.ndim - 2) * down * divide_up(tiled.shape[tiled.ndim - 1], columns);
        call.per_task = items_per_task(context, call.total, 1);
        return run_tasks(context, divide_up(call.total, call.per_task), elementwise_tiles, &call);
    }
    call.per_task = items_per_task(context, call.total, CACHE_LINE);
    return run_tasks(context, divide_up(call.total, call.per_task), elementwise_task, &call);
}
