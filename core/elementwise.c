#include "elementwise.h"

#include "layout/copy.h"
#include "layout/stream.h"
#include "layout/strided.h"

enum {
    BUFFER = 4096,      /* bytes of an operand that are copied at a time: the buffers of four take 16 KB, within L1 */
    APART = 128,        /* bytes between buffers: addresses a multiple of 4096 apart look alike to processors */
    CACHE_LINE = 64,    /* elements of one byte; tasks begin at multiples of it, so they do not write to one line */
    TILE_COLUMNS = 64,  /* elements */
    TILE_LEAST = 4,     /* rows and columns of a matrix; smaller ones are not cut into tiles */
    LONG_ROW = 64,      /* for rows of at least this length, one call of the body per row is cheaper than copying */
    LONG_REPEATED = 192 /* the same for a single row that is repeated: it is copied only once */
};

/* How an operand is passed to the body. */
typedef enum passage {
    IN_PLACE, /* contiguous */
    BY_ROW,   /* in place, row by row: the last dimension is contiguous and long */
    FILLED,   /* a single element, repeated in a buffer that is filled once */
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
    int64_t max_count; /* maximum elements per call of the body */
    int by_row;        /* whether each call must stay within a row */
    int64_t lead;      /* elements in a task's first call, chosen so that later calls begin at a cache line boundary */
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

static passage choose_passage(const lw_layout *layout, int32_t operand, int32_t size) {
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
    return layout->shape[last] >= LONG_ROW && strides[last] == size ? BY_ROW : PACKED;
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
    kernel->body(kernel->lanes, padded, buffer[last], parameters);
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
        run_body(kernel, part, arrays, buffer, parameters);
        stream_copy(output + done * size, buffer, part * size);
    }
    if (SIMD_STREAM) {
        stream_end();
    }
}

/* Converts the elements of an input from where they are stored to a buffer, if it has to be converted. Returns where
 * the converted elements are. */
static void *convert_input(const elementwise_call *call, int32_t operand, int64_t count, void *stored, void *buffer) {
    if (!call->cast[operand]) {
        return stored;
    }
    PATH("elementwise: converts an input");
    run_body(call->cast[operand], count, (const void *const *)&stored, buffer, NULL);
    return buffer;
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
        if (call->passage[o] == FILLED) {
            PATH("elementwise: filled");
            transfer_rows(call, o, call->data[o], 1, first, stored, 0);
        } else if (call->passage[o] == REPEATED) {
            PATH("elementwise: repeated");
            PATH_IF(column > 0, "elementwise: repeated, from within a row");
            transfer(call, it, column, first, o, stored, 0);
        } else {
            continue;
        }
        convert_input(call, o, first, stored, buffer[o]);
    }
    for (int64_t max_count = SIMD_STREAM && call->lead ? call->lead : call->max_count; position < end;
         max_count = call->max_count) {
        int64_t count = min_int64(end - position, max_count);
        if (call->by_row) {
            count = min_int64(count, call->row - column);
        }
        char *stored[LW_MAX_OPERANDS]; /* where the elements are in memory, or in a buffer if they are copied */
        const void *arrays[LW_MAX_OPERANDS];
        for (int32_t o = 0; o <= inputs; o++) {
            int32_t size = call->size[o];
            stored[o] = call->cast[o] ? unconverted : buffer[o];
            arrays[o] = buffer[o];
            if (call->passage[o] == IN_PLACE) {
                PATH("elementwise: in place");
                stored[o] = call->data[o] + position * size;
            }
            if (call->passage[o] == BY_ROW) {
                PATH("elementwise: by row");
                PATH_IF(column > 0, "elementwise: by row, from within a row");
                stored[o] = call->data[o] + it.offset[o] + column * size;
            }
            if (call->passage[o] == PACKED && o < inputs) {
                PATH("elementwise: packed");
                PATH_IF(column > 0, "elementwise: packed, from within a row");
                transfer(call, it, column, count, o, stored[o], 0);
            }
            if (o < inputs && call->passage[o] != FILLED && call->passage[o] != REPEATED) {
                arrays[o] = convert_input(call, o, count, stored[o], buffer[o]);
            }
        }
        const elementwise *cast = call->cast[inputs];
        run_body(kernel, count, arrays, cast ? buffer[inputs] : stored[inputs], call->parameters);
        if (cast) {
            PATH("elementwise: converts the result");
            run_body(cast, count, arrays + inputs, stored[inputs], NULL);
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
        if (column == call->row) { /* no division, which takes as long as a short row */
            column = 0;
            iterator_next(&it);
        } else if (column > call->row && position < end) {
            skip_rows(&it, column / call->row);
            column %= call->row;
        }
    }
    if (SIMD_STREAM && call->passage[inputs] == STREAMED) {
        stream_end();
    }
    return LW_OK;
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
    int32_t result = call->kernel->operands - 1, last = layout->ndim - 1,
            rows = (int32_t)call->max_count / TILE_COLUMNS;
    int64_t across = divide_up(layout->shape[last], TILE_COLUMNS), down = divide_up(layout->shape[last - 1], rows);
    int64_t number = task * call->per_task, end = min_int64(number + call->per_task, call->total);
    _Alignas(64) char buffer[LW_MAX_OPERANDS][BUFFER + APART], unconverted[BUFFER];
    int in_place[LW_MAX_OPERANDS], by_row = 0;
    for (int32_t o = 0; o <= result; o++) {
        in_place[o] = layout->strides[o][last] == call->size[o] && !call->cast[o];
        by_row |= in_place[o];
    }
    layout_iterator it;
    iterator_start(&it, layout, 0, last - 1, result + 1, number / (down * across));
    for (int64_t at = number % (down * across); number < end; number++) {
        tile t = {at / across * rows, at % across * TILE_COLUMNS, 0, 0};
        t.rows = min_int64(layout->shape[last - 1] - t.row, rows);
        t.columns = min_int64(layout->shape[last] - t.column, TILE_COLUMNS);
        int64_t calls = by_row ? t.rows : 1, count = by_row ? t.columns : t.rows * t.columns;
        const void *arrays[LW_MAX_OPERANDS];
        int64_t step[LW_MAX_OPERANDS]; /* from one call to the next */
        for (int32_t o = 0; o <= result; o++) {
            step[o] = in_place[o] ? layout->strides[o][last - 1] : t.columns * call->kernel->size[o];
            arrays[o] = buffer[o];
            if (in_place[o]) {
                arrays[o] = call->data[o] + it.offset[o] + t.row * step[o] + t.column * call->size[o];
            } else if (o < result) {
                char *stored = call->cast[o] ? unconverted : buffer[o];
                transfer_tile(call, &it, &t, o, stored, 0);
                convert_input(call, o, t.rows * t.columns, stored, buffer[o]);
            }
        }
        for (int64_t i = 0; i < calls; i++) {
            run_body(call->kernel, count, arrays, (void *)arrays[result], call->parameters);
            for (int32_t o = 0; o <= result; o++) {
                arrays[o] = (const char *)arrays[o] + step[o];
            }
        }
        char *computed = buffer[result];
        if (call->cast[result]) {
            PATH("elementwise: converts tiles of the result");
            const void *from = computed;
            computed = unconverted;
            run_body(call->cast[result], t.rows * t.columns, &from, computed, NULL);
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
    if (copies && call.total > 1 && choose_passage(layout, 0, kernel->size[0]) != FILLED) {
        PATH("elementwise: copies");
        return copy_layout(context, layout, inputs[0], outputs[0], kernel->size[0]);
    }
    if (call.total == 0 || (call.total == 1 && !converted)) {
        if (call.total) {
            PATH("elementwise: one element");
            run_body(kernel, 1, inputs, outputs[0], parameters);
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
        call.passage[o] = choose_passage(layout, o, call.size[o]);
        if (call.passage[o] == REPEATED && o == last) {
            /* choose_passage returns REPEATED if the layout is one strided row, but only an input can be repeated. */
            call.passage[o] = PACKED;
        }
        call.by_row |= call.passage[o] == BY_ROW;
        is_buffered |= call.cast[o] || call.passage[o] >= FILLED;
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
    for (int32_t o = 0; o <= last; o++) {
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
        int64_t down = divide_up(tiled.shape[tiled.ndim - 2], chunk / TILE_COLUMNS);
        call.total =
            layout_count(&tiled, 0, tiled.ndim - 2) * down * divide_up(tiled.shape[tiled.ndim - 1], TILE_COLUMNS);
        call.per_task = items_per_task(context, call.total, 1);
        return run_tasks(context, divide_up(call.total, call.per_task), elementwise_tiles, &call);
    }
    call.per_task = items_per_task(context, call.total, CACHE_LINE);
    return run_tasks(context, divide_up(call.total, call.per_task), elementwise_task, &call);
}
