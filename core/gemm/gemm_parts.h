/* Divides k among tasks, where C has too few elements to be divided. The division and the order of sums depend on the
 * shape alone, so that results are the same for every number of threads. Included by gemm_ways.h. */
#pragma once

enum {
    PART_WORK = 1 << 20, /* multiply-adds of a part */
    PART_LEAST = 1 << 10,
    PART_MOST = 1 << 14, /* steps along k of a part */
    PART_ROWS = 8,       /* of C, and columns, that a task could compute instead */
    PART_COLUMNS = 32
};

typedef struct gemm_parts {
    const gemm *g;
    int64_t count, steps; /* parts, and their steps along k */
    int64_t per_task;
    int64_t width; /* elements from a row of a sum to the next: n, rounded up to whole vectors */
    element *sums; /* m rows for each part */
} gemm_parts;

/* Returns how a product is divided; the count is 1 if it is not. */
static gemm_parts gemm_parts_of(const gemm *g) {
    gemm_parts parts = {.g = g, .count = 1, .width = round_up(g->n, LANES)};
    if (HAS_THREADS && !g->pack_b && g->m && g->n && g->k > PART_LEAST) {
        int64_t steps = round_up(divide_up(PART_WORK, g->m * g->n), PART_LEAST);
        parts.steps = min_int64(steps, PART_MOST);
        int64_t count = divide_up(g->k, parts.steps);
        int64_t others = divide_up(g->m, PART_ROWS) * divide_up(g->n, PART_COLUMNS);
        parts.count = count > others ? count : 1;
    }
    return parts;
}

static lw_status gemm_part_task(lw_context *context, int64_t task, const void *argument) {
    const gemm_parts *parts = argument;
    const gemm *g = parts->g;
    lw_status status = LW_OK;
    int64_t first = task * parts->per_task, end = min_int64(first + parts->per_task, parts->count);
    for (int64_t i = first; i < end && status == LW_OK; i++) {
        element *sums = parts->sums + i * g->m * parts->width;
        gemm part = *g;
        part.k = min_int64(g->k - i * parts->steps, parts->steps);
        part.a += i * parts->steps * g->a_column;
        part.b += i * parts->steps * g->b_row;
        part.bias = NULL;
        part.activate = NULL;
        part.c = (char *)sums;
        part.c_row = parts->width * (int64_t)sizeof *sums;
        part.c_column = sizeof *sums;
        status = gemm_undivided(context, &part);
        for (int64_t r = 0; r < g->m; r++) { /* clear padding: gemm_store_tile applies the activation to it, too */
            for (int64_t c = g->n; c < parts->width; c++) {
                sums[r * parts->width + c] = 0;
            }
        }
    }
    return status;
}

/* Computes the sums of all parts in tasks, and joins them in a tree. */
static lw_status gemm_by_parts(lw_context *context, gemm_parts *parts) {
    const gemm *g = parts->g;
    int64_t size = g->m * parts->width;
    parts->per_task = items_per_task(context, parts->count, 1);
    lw_status status = run_tasks(context, divide_up(parts->count, parts->per_task), gemm_part_task, parts);
    for (int64_t step = 1; step < parts->count && status == LW_OK; step *= 2) {
        for (int64_t i = 0; i + step < parts->count; i += 2 * step) {
            element *left = parts->sums + i * size, *right = left + step * size;
            for (int64_t c = 0; c < size; c += LANES) {
                v_store(left + c, v_load(left + c) + v_load(right + c));
            }
        }
    }
    if (status == LW_OK) {
        gemm_store_tile(g, 0, 0, g->m, g->n, parts->sums, parts->width, 0, 1);
    }
    return status;
}
