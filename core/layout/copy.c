#include "layout/copy.h"

#include "layout/stream.h"
#include "layout/strided.h"
#include "layout/transpose.h"

enum {
    LONG_STRIDED_ROW = 8, /* elements, at least, of a strided row that is copied at once */
    STREAMED_ROW = 1024,  /* bytes, at least, of a row that is written by streaming stores */
    COPY_UNIT = 64        /* rows or columns of a task are a multiple of this, so that tasks share no cache line */
};

/* Copies `bytes`, from `half` to 2 * half, which is a constant, by two moves that may overlap. */
INLINE void copy_halves(char *to, const char *from, int64_t bytes, int half) {
    char first[32], second[32];
    __builtin_memcpy(first, from, (size_t)half);
    __builtin_memcpy(second, from + bytes - half, (size_t)half);
    __builtin_memcpy(to, first, (size_t)half);
    __builtin_memcpy(to + bytes - half, second, (size_t)half);
}

/* Copies a run of `bytes` by moves of `wide` bytes, a constant; there are that many at least. The last move may overlap
 * the one before. */
INLINE void copy_wide(char *to, const char *from, int64_t bytes, int wide) {
    int64_t i = 0;
    for (; i < bytes - 4 * wide; i += 4 * wide) {
        __builtin_memcpy(to + i, from + i, (size_t)(4 * wide));
    }
    for (; i < bytes - wide; i += wide) {
        __builtin_memcpy(to + i, from + i, (size_t)wide);
    }
    __builtin_memcpy(to + bytes - wide, from + bytes - wide, (size_t)wide);
}

INLINE void copy_run(char *to, const char *from, int64_t bytes, int wide) {
    if (wide == 0) { /* 1 to 3 bytes */
        to[0] = from[0];
        to[bytes / 2] = from[bytes / 2];
        to[bytes - 1] = from[bytes - 1];
    } else if (wide <= 8 || wide < WIDE) { /* longer runs have wider moves */
        copy_halves(to, from, bytes, wide);
    } else if (bytes >= SIMD_BULK_COPY) {
        PATH_IF(SIMD_BULK_COPY < INT64_MAX, "copy: long runs");
        copy_bytes(to, from, bytes);
    } else {
        copy_wide(to, from, bytes, wide);
    }
}

INLINE void copy_runs(char *to, const char *from, const copied_rows *rows, int64_t bytes, int wide) {
    /* Read once: for all that compilers know, `to` is also the memory of `rows`. */
    int64_t count = rows->count[1], to_step = rows->to_step[1], from_step = rows->from_step[1];
    for (int64_t outer = 0; outer < rows->count[0]; outer++) {
        char *target = to + outer * rows->to_step[0];
        const char *source = from + outer * rows->from_step[0];
        for (int64_t r = 0; r < count; r++, target += to_step, source += from_step) {
            copy_run(target, source, bytes, wide);
        }
    }
}

/* Copies rows of `bytes` contiguous bytes. The width of moves is chosen once; rows of one move each are a loop of their
 * own, which takes half as long. */
static void copy_all_runs(char *to, const char *from, const copied_rows *rows, int64_t bytes) {
    if (bytes == 16 && !IS_DOWNLOADED) {
        copy_runs(to, from, rows, 16, 16);
    } else if (bytes == 8 && !IS_DOWNLOADED) {
        copy_runs(to, from, rows, 8, 8);
    } else if (bytes == 4 && !IS_DOWNLOADED) {
        copy_runs(to, from, rows, 4, 4);
    } else if (bytes >= WIDE && WIDE > 16) {
        PATH_IF(WIDE > 16, "copy: runs of registers");
        copy_runs(to, from, rows, bytes, WIDE);
    } else if (bytes >= 32 && WIDE > 32) {
        PATH_IF(WIDE > 32, "copy: runs of 32 bytes and more");
        copy_runs(to, from, rows, bytes, 32);
    } else if (bytes >= 16) {
        PATH("copy: runs of 16 bytes and more");
        copy_runs(to, from, rows, bytes, 16);
    } else if (bytes >= 8) {
        PATH("copy: runs of 8 bytes and more");
        copy_runs(to, from, rows, bytes, 8);
    } else if (bytes >= 4) {
        PATH("copy: runs of 4 bytes and more");
        copy_runs(to, from, rows, bytes, 4);
    } else {
        PATH("copy: runs of less than 4 bytes");
        copy_runs(to, from, rows, bytes, 0);
    }
}

/* Fills each row with the element at its start. */
static void fill_rows(char *to, const char *from, const copied_rows *rows, int64_t columns, int32_t size) {
    PATH("copy: fills rows");
    for (int64_t outer = 0; outer < rows->count[0]; outer++) {
        for (int64_t r = 0; r < rows->count[1]; r++) {
            const char *source = from + outer * rows->from_step[0] + r * rows->from_step[1];
            repeat_element(to + outer * rows->to_step[0] + r * rows->to_step[1], columns * size, source, size);
        }
    }
}

void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, const copied_rows *rows, int64_t columns,
               int32_t size) {
    if (to_step == size && (from_step == size || columns == 1)) {
        copy_all_runs(to, from, rows, columns * size);
        return;
    }
    if (to_step == size && from_step == 0) {
        fill_rows(to, from, rows, columns, size);
        return;
    }
    int64_t count = rows->count[1], to_row = rows->to_step[1], from_row = rows->from_step[1];
    for (int64_t outer = 0; outer < rows->count[0]; outer++, to += rows->to_step[0], from += rows->from_step[0]) {
        if (to_step == size && from_row == size) {
            PATH("copy: columns to rows");
            transpose(to, to_row, from, from_step, columns, count, size);
        } else if (to_row == size && from_step == size) {
            PATH("copy: rows to columns");
            transpose(to, to_step, from, from_row, count, columns, size);
        } else if (columns < LONG_STRIDED_ROW && count > columns) {
            PATH("copy: along short rows' neighbours");
            for (int64_t c = 0; c < columns; c++) {
                copy_strided(to + c * to_step, to_row, from + c * from_step, from_row, count, size);
            }
        } else {
            PATH("copy: strided rows");
            for (int64_t r = 0; r < count; r++) {
                copy_strided(to + r * to_row, to_step, from + r * from_row, from_step, columns, size);
            }
        }
    }
}

typedef struct layout_copy {
    lw_layout layout; /* the last dimension is that of columns; the two before it are those of rows */
    const char *from;
    char *to;
    int32_t size, cut; /* the dimension that is divided among tasks */
    int64_t per_task;
    int streamed;
} layout_copy;

/* Copies rows that are contiguous by streaming stores. */
static void stream_rows(char *to, const char *from, const copied_rows *rows, int64_t bytes) {
    PATH_IF(SIMD_STREAM, "copy: streamed rows");
    for (int64_t outer = 0; outer < rows->count[0]; outer++) {
        for (int64_t r = 0; r < rows->count[1]; r++) {
            stream_copy(to + outer * rows->to_step[0] + r * rows->to_step[1],
                        from + outer * rows->from_step[0] + r * rows->from_step[1], bytes);
        }
    }
}

static lw_status copy_task(lw_context *context, int64_t task, const void *argument) {
    const layout_copy *all = argument;
    lw_layout layout = all->layout;
    int64_t first = task * all->per_task;
    layout.shape[all->cut] = min_int64(layout.shape[all->cut] - first, all->per_task);
    const char *from = all->from + first * layout.strides[0][all->cut];
    char *to = all->to + first * layout.strides[1][all->cut];
    int32_t last = layout.ndim - 1;
    copied_rows rows = {{1, 1}, {0}, {0}};
    for (int32_t i = 0; i < 2; i++) { /* the outer of the two may be missing, or both */
        int32_t d = last - 2 + i;
        if (d >= 0) {
            rows.count[i] = layout.shape[d];
            rows.from_step[i] = layout.strides[0][d];
            rows.to_step[i] = layout.strides[1][d];
        }
    }
    layout_iterator it;
    int32_t outer = last > 2 ? last - 2 : 0;
    iterator_start(&it, &layout, 0, outer, 2, 0);
    for (int64_t i = layout_count(&layout, 0, outer); i > 0; i--, iterator_next(&it)) {
        if (SIMD_STREAM && all->streamed) {
            stream_rows(to + it.offset[1], from + it.offset[0], &rows, layout.shape[last] * all->size);
        } else {
            copy_rows(to + it.offset[1], layout.strides[1][last], from + it.offset[0], layout.strides[0][last], &rows,
                      layout.shape[last], all->size);
        }
    }
    if (SIMD_STREAM && all->streamed) {
        stream_end();
    }
    return LW_OK;
}

lw_status copy_layout(lw_context *context, const lw_layout *layout, const char *from, char *to, int32_t size) {
    layout_copy all = {.layout = *layout, .from = from, .to = to, .size = size};
    int32_t last = layout->ndim - 1;
    lw_layout *own = &all.layout;
    for (int32_t d = 0; d <= last; d++) { /* written forwards */
        if (own->strides[1][d] < 0) {
            all.from += (own->shape[d] - 1) * own->strides[0][d];
            all.to += (own->shape[d] - 1) * own->strides[1][d];
            own->strides[0][d] = -own->strides[0][d];
            own->strides[1][d] = -own->strides[1][d];
        }
    }
    int32_t column = layout_column(own, 0, size);
    if (column >= 0) {
        PATH_IF(column < last - 1, "copy: columns of an outer dimension");
        layout_move(own, column, last - 1, 2);
    }
    int64_t count = layout_count(own, 0, own->ndim);
    for (int32_t d = 0; d <= last; d++) {
        all.cut = own->shape[d] > own->shape[all.cut] ? d : all.cut;
    }
    all.streamed = own->strides[0][last] == size && own->strides[1][last] == size &&
                   own->shape[last] * size >= STREAMED_ROW && stream_pays(context, count * size);
    int64_t extent = own->shape[all.cut];
    all.per_task = items_per_task(context, extent, all.cut >= last - 1 ? COPY_UNIT : 1);
    return count ? run_tasks(context, divide_up(extent, all.per_task), copy_task, &all) : LW_OK;
}

lw_status fill_zero_indices(lw_context *context, const lw_layout *layout, char *to) {
    static const int32_t zero = 0;
    lw_layout repeated = *layout;
    for (int32_t d = 0; d < repeated.ndim; d++) {
        repeated.strides[0][d] = 0;
    }
    return copy_layout(context, &repeated, (const char *)&zero, to, sizeof zero);
}
