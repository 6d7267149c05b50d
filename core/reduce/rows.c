/* Divides rows among tasks, which compute them one at a time, or side by side in tiles. In the buffer of a tile, the
 * first elements of all its rows come first, then the second ones, and so on. Copying a tile to the buffer transposes
 * rows whose elements are adjacent in memory, and keeps the order of rows along another axis. The tile is computed in
 * the buffer and copied back, so memory is read and written by whole cache lines. */
#include "layout/copy.h"
#include "reduce/row.h"

enum {
    ROW_MAX_CACHED = 4096, /* longer rows are not prefetched, because they may not fit in L1 or L2 */
    ROW_DIVIDED = 1 << 16, /* minimum length of a divided row: its tasks take much longer than waking threads */
    TILE_LEAST = 4,        /* rows; fewer are computed one at a time */
    TILE_SHORT = 64,       /* elements, at most, of rows that are transposed */
    TILE_LINE = 64,        /* bytes of a cache line */
    TILE_BYTES = 1 << 14   /* of a tile, unless its rows are longer than this many cache lines: within L1 */
};

typedef struct rows {
    const row_kernel *kernel;
    const lw_layout *layout;
    const void *const *inputs;
    char *out;
    const lw_scalar *parameters;
    int64_t count, per_task, length;
    row_division *division; /* NULL unless tasks divide each row */
    int64_t tile;           /* rows of a tile; 0 if rows are computed one at a time */
    char *buffers;          /* a tile for each task */
} rows;

/* Returns whether the rows of an operand are next to each other. */
static int row_is_column(const lw_layout *layout, int32_t operand, int32_t size) {
    int32_t outer = layout->ndim - layout->inner;
    return layout->strides[operand][outer - 1] == size && layout->strides[operand][outer] != size;
}

/* Returns how many rows a tile has; 0 if rows are computed one at a time. */
static int64_t row_tile(const rows *all) {
    const lw_layout *layout = all->layout;
    int32_t size = all->kernel->size, inputs = all->kernel->inputs, outer = layout->ndim - layout->inner;
    int64_t line = outer ? layout->shape[outer - 1] : 1, lines = outer > 1 ? layout->shape[outer - 2] : 1;
    if (layout->inner != 1 || outer == 0 || line * lines < TILE_LEAST) {
        return 0;
    }
    if (all->length > TILE_SHORT && !row_is_column(layout, 0, size) && !row_is_column(layout, inputs, size)) {
        return 0;
    }
    int64_t unit = TILE_LINE / size, most = TILE_BYTES / (all->length * TILE_LINE) * unit; /* rows in whole lines */
    most = most < unit ? unit : min_int64(most, ROW_BESIDE);
    return line < most ? most : round_up(divide_up(line, divide_up(line, most)), unit); /* tiles of one size */
}

/* Task: computes rows side by side. A tile has rows of one line, or several whole lines. */
static lw_status row_tiles_task(lw_context *context, int64_t task, const void *argument) {
    const rows *all = argument;
    const lw_layout *layout = all->layout;
    int32_t outer = layout->ndim - layout->inner, inputs = all->kernel->inputs, size = all->kernel->size;
    int64_t end = min_int64((task + 1) * all->per_task, all->count), pitch = all->tile * size, n;
    int64_t line = layout->shape[outer - 1], lines = outer > 1 ? layout->shape[outer - 2] : 1;
    int64_t lanes = size == 8 ? VF64_LANES : VF32_LANES;
    char *buffer = all->buffers + task * pitch * all->length;
    row tile = {.length = all->length, .parameters = all->parameters};
    tile.in[0] = tile.out = (row_operand){buffer, pitch};
    tile.out_data = buffer;
    for (int32_t i = 1; i < inputs; i++) {
        tile.in[i] = (row_operand){all->inputs[i], layout->strides[i][outer]};
    }
    for (int64_t i = task * all->per_task; i < end; i += n) {
        int64_t taken = 1, width = min_int64(min_int64(line - i % line, all->tile), end - i);
        if (line < all->tile) {
            taken = min_int64(min_int64(all->tile / line, lines - i / line % lines), (end - i) / line);
        }
        n = taken * width;
        tile.width = round_up(n, lanes);
        PATH_IF(taken > 1, "rows: a tile of several lines");
        PATH_IF(VF32_LANES > 1 && n % lanes, "rows: part of a tile");
        for (int64_t j = 0; n < tile.width && j < all->length; j++) {
            vi32_store((int32_t *)(buffer + j * pitch + (tile.width - lanes) * size), vi32_set(0));
        }
        layout_iterator at;
        iterator_start(&at, layout, 0, outer, inputs + 1, i);
        int64_t in_line = outer > 1 ? layout->strides[0][outer - 2] : 0;
        int64_t out_line = outer > 1 ? layout->strides[inputs][outer - 2] : 0;
        copied_rows in = {{taken, all->length}, {width * size, pitch}, {in_line, layout->strides[0][outer]}};
        copied_rows out = {{taken, all->length}, {out_line, layout->strides[inputs][outer]}, {width * size, pitch}};
        copy_rows(buffer, size, (const char *)all->inputs[0] + at.offset[0], layout->strides[0][outer - 1], &in, width,
                  size);
        all->kernel->beside(&tile);
        copy_rows(all->out + at.offset[inputs], layout->strides[inputs][outer - 1], buffer, size, &out, width, size);
    }
    return LW_OK;
}

/* Task: computes rows one at a time. */
static lw_status rows_task(lw_context *context, int64_t task, const void *argument) {
    const rows *all = argument;
    const lw_layout *layout = all->layout;
    int32_t outer = layout->ndim - layout->inner, inputs = all->kernel->inputs;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->count);
    int64_t line = outer ? layout->shape[outer - 1] : 1, step[LW_MAX_OPERANDS] = {0};
    row r = {.length = all->length, .width = 1, .parameters = all->parameters, .division = all->division};
    for (int32_t i = 0; i < inputs; i++) {
        r.in[i].stride = layout->inner ? layout->strides[i][outer] : 0;
    }
    r.out.stride = layout->inner ? layout->strides[inputs][outer] : 0;
    for (int32_t o = 0; o <= inputs && outer; o++) {
        if (o == inputs || all->inputs[o]) {
            step[o] = layout->strides[o][outer - 1];
        }
    }
    int is_cached = r.length <= ROW_MAX_CACHED && r.in[0].stride == all->kernel->size;
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
        for (; i < stop; i++) {
            r.out.data = r.out_data;
            r.prefetch = r.in[0].data + (is_cached ? step[0] : 0);
            all->kernel->one(&r);
            for (int32_t o = 0; o < ROW_INPUTS; o++) {
                r.in[o].data += o < inputs ? step[o] : 0;
            }
            r.out_data += step[inputs];
        }
    }
    return LW_OK;
}

lw_status run_rows(lw_context *context, const void *layout_argument, const void *const *inputs, void *const *outputs,
                   const lw_scalar *parameters, const row_kernel *kernel) {
    const lw_layout *layout = layout_argument;
    int32_t outer = layout->ndim - layout->inner;
    rows all = {.kernel = kernel, .layout = layout, .inputs = inputs, .out = outputs[0], .parameters = parameters};
    all.count = layout_count(layout, 0, outer);
    all.length = layout_count(layout, outer, layout->ndim);
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
    all.tile = row_tile(&all);
    if (all.tile) {
        int64_t line = layout->shape[outer - 1];
        all.per_task = items_per_task(context, all.count, line < all.tile ? line : TILE_LINE / kernel->size);
        int64_t tasks = divide_up(all.count, all.per_task);
        all.buffers = allocate_scratch(context, (size_t)(tasks * all.tile * all.length * kernel->size));
        PATH_IF(!all.buffers, "rows: no memory for tiles");
        if (all.buffers) {
            lw_status status = run_tasks(context, tasks, row_tiles_task, &all);
            release_scratch(context, all.buffers);
            return status;
        }
    }
    all.per_task = items_per_task(context, all.count, 1);
    return run_tasks(context, divide_up(all.count, all.per_task), rows_task, &all);
}
