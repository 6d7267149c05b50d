/* An iterator over some dimensions of a layout, in row-major order. It keeps the byte offset of every operand. This
 * file also defines what all kernels use: KERNEL, run_tasks() and scratch memory. */
#pragma once

#include "lanewise.h"
#include "paths.h"

/* Begins the definition of the kernel lw_<name>, a function of type lw_kernel. */
#define KERNEL(name)                                                                                              \
    lw_status lw_##name(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs, \
                        const lw_scalar *parameters)

/* Begins the declaration of a kernel of another translation unit that is not in the table. */
#define HIDDEN_KERNEL extern __attribute__((visibility("hidden"))) lw_kernel

typedef struct layout_iterator {
    const lw_layout *layout;
    int32_t first, end; /* iterates over dimensions first .. end - 1 */
    int32_t operands;
    int64_t index[LW_MAX_NDIM];
    int64_t offset[LW_MAX_OPERANDS];
} layout_iterator;

/* Returns the number of positions in dimensions first .. end-1. */
static inline int64_t layout_count(const lw_layout *layout, int32_t first, int32_t end) {
    int64_t count = 1;
    for (int32_t d = first; d < end; d++) {
        count *= layout->shape[d];
    }
    return count;
}

/* Initializes the iterator at a position below layout_count(). Position 0 is also allowed if that count is 0. */
static inline void iterator_start(layout_iterator *it, const lw_layout *layout, int32_t first, int32_t end,
                                  int32_t operands, int64_t position) {
    it->layout = layout;
    it->first = first;
    it->end = end;
    it->operands = operands;
    for (int32_t o = 0; o < operands; o++) {
        it->offset[o] = 0;
    }
    for (int32_t d = end - 1; d >= first; d--) {
        int64_t index = position ? position % layout->shape[d] : 0;
        if (position) {
            position /= layout->shape[d];
        }
        it->index[d] = index;
        for (int32_t o = 0; o < operands; o++) {
            it->offset[o] += index * layout->strides[o][d];
        }
    }
}

/* Moves to the next position; after the last one, back to the first. */
static inline void iterator_next(layout_iterator *it) {
    for (int32_t d = it->end - 1; d >= it->first; d--) {
        int64_t last = it->layout->shape[d] - 1;
        int64_t step = it->index[d] < last ? 1 : -last;
        it->index[d] += step;
        for (int32_t o = 0; o < it->operands; o++) {
            it->offset[o] += step * it->layout->strides[o][d];
        }
        if (step == 1) {
            return;
        }
    }
}

/* Returns the dimension along which elements of an operand are adjacent, if it is not the last: those of a transposed
 * matrix. Returns -1 if there is none. */
static inline int32_t layout_column(const lw_layout *layout, int32_t operand, int64_t size) {
    int32_t last = layout->ndim - 1;
    for (int32_t d = last - 1; d >= 0 && layout->strides[operand][last] != size; d--) {
        if (layout->strides[operand][d] == size && layout->strides[operand][last] != 0) {
            return d;
        }
    }
    return -1;
}

/* Moves a dimension to a later place. */
static inline void layout_move(lw_layout *layout, int32_t which, int32_t place, int32_t operands) {
    for (int32_t d = which; d < place; d++) {
        int64_t extent = layout->shape[d];
        layout->shape[d] = layout->shape[d + 1];
        layout->shape[d + 1] = extent;
        for (int32_t o = 0; o < operands; o++) {
            int64_t stride = layout->strides[o][d];
            layout->strides[o][d] = layout->strides[o][d + 1];
            layout->strides[o][d + 1] = stride;
        }
    }
}

/* A range of indices: begin .. end - 1, empty if end <= begin. */
typedef struct index_range {
    int64_t begin, end;
} index_range;

/* HAS_THREADS: the host may have several threads. IS_DOWNLOADED: pages download the code, which leaves out what gains
 * little. */
#if defined __wasm__
enum { HAS_THREADS = 0, IS_DOWNLOADED = 1 };
#else
enum { HAS_THREADS = 1, IS_DOWNLOADED = 0 };
#endif

/* Runs tasks by context->run, which can spread them over threads. A single task runs on this
 * thread; so do all tasks, in order, if `run` is NULL. */
static inline lw_status run_tasks(lw_context *context, int64_t count, lw_task *task, const void *argument) {
    if (context->run && count > 1) {
        return context->run(context, count, task, argument);
    }
    lw_status status = LW_OK;
    for (int64_t i = 0; i < count && status == LW_OK; i++) {
        status = task(context, i, argument);
    }
    return status;
}

#ifdef LW_COUNT_PATHS /* counts, per task function, calls that run one task and calls that give context->run several */
#define run_tasks(context, tasks, task, argument)                     \
    ({                                                                \
        int64_t path_tasks = (tasks);                                 \
        PATH_IF(path_tasks == 1, #task ": one");                      \
        PATH_IF(path_tasks > 1 && (context)->run, #task ": several"); \
        run_tasks(context, path_tasks, task, argument);               \
    })
#endif

/* Runs one task, by context->run unless that is NULL. The host can stop the kernel between tasks, so long serial work
 * is cut into such tasks. */
static inline lw_status run_interruptible(lw_context *context, lw_task *task, const void *argument) {
    return context->run ? context->run(context, 1, task, argument) : task(context, 0, argument);
}

/* Returns scratch memory from the host, or NULL. */
static inline void *allocate_scratch(lw_context *context, size_t bytes) {
    return context->allocate ? context->allocate(context, bytes) : NULL;
}

static inline void release_scratch(lw_context *context, void *memory) {
    if (memory && context->release) {
        context->release(context, memory);
    }
}

static inline int64_t min_int64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t round_up(int64_t a, int64_t unit) { return divide_up(a, unit) * unit; }

/* Returns the number of items per task if `count` items are divided into about context->tasks tasks: a positive
 * multiple of `unit`. */
static inline int64_t items_per_task(const lw_context *context, int64_t count, int64_t unit) {
    int64_t tasks = context->tasks > 1 ? context->tasks : 1;
    int64_t items = round_up(divide_up(count, tasks), unit);
    return items > unit ? items : unit;
}
