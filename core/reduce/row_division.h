/* Divides a long row among tasks. The results do not depend on the number of tasks: a task reduces subtrees of the tree
 * by which row_reduce_blocks() joins blocks, and sums of chunks are added in the order of the chunks. Included by
 * rows.h. */
#pragma once

typedef struct row_reduce_call {
    const row *r;
    row_operand x;
    const reducer *f;
    reduced *results;
    int64_t blocks, per_task; /* per_task is a power of two */
} row_reduce_call;

/* What the function that ROW_MAP defines passes to its tasks. */
typedef struct row_map_call {
    const row *r;
    const row_operand *operands;
    const element *absent;
    const row_numbers *numbers;
    double *sums;     /* one for each chunk, or NULL */
    double *sum;      /* what the only task returns if `sums` is NULL */
    int64_t per_task; /* chunks */
} row_map_call;

static void row_run_tasks(const row *r, int64_t count, lw_task *row_task, const void *argument) {
    row_division *division = r->division;
    if (division->status == LW_OK) {
        division->status = run_tasks(division->context, count, row_task, argument);
    }
}

static lw_status row_reduce_task(lw_context *context, int64_t task, const void *argument) {
    const row_reduce_call *c = argument;
    char packed[REDUCE_BLOCK * ELEMENT_SIZE];
    int64_t first = task * c->per_task, blocks = min_int64(c->per_task, c->blocks - first);
    row_reduce_blocks(c->r, c->x, first, blocks, c->f, packed, NULL, 0, c->results + task);
    return LW_OK;
}

/* Reduces an operand in tasks. Returns whether there was memory for their results. */
static int row_reduce_by_tasks(const row *r, row_operand x, const reducer *f, reduced *result) {
    row_reduce_call call = {r, x, f, NULL, divide_up(r->length, REDUCE_BLOCK), 1};
    while (call.per_task * r->division->context->tasks < call.blocks) {
        call.per_task *= 2;
    }
    int64_t tasks = divide_up(call.blocks, call.per_task);
    call.results = allocate_scratch(r->division->context, (size_t)tasks * sizeof *call.results);
    PATH_IF(!call.results, "rows: no memory to reduce by tasks");
    if (!call.results) {
        return 0;
    }
    row_run_tasks(r, tasks, row_reduce_task, &call);
    *result = (reduced){0};
    if (r->division->status == LW_OK) {
        row_reduce_blocks(r, x, 0, call.blocks, f, NULL, call.results, call.per_task, result);
    }
    release_scratch(r->division->context, call.results);
    return 1;
}

/* Runs the tasks of a function that ROW_MAP defines. Returns the sum of the results if `summed`. Without memory for the
 * sums of chunks, there is one task. */
static double row_map_by_tasks(row_map_call *call, int summed, lw_task *row_map_task) {
    const row *r = call->r;
    int64_t chunks = divide_up(r->length, ROW_CHUNK);
    double sum = 0;
    call->sum = &sum;
    call->sums = summed ? allocate_scratch(r->division->context, (size_t)chunks * sizeof *call->sums) : NULL;
    PATH_IF(summed && !call->sums, "rows: no memory to sum by tasks");
    call->per_task = summed && !call->sums ? chunks : items_per_task(r->division->context, chunks, 1);
    row_run_tasks(r, divide_up(chunks, call->per_task), row_map_task, call);
    if (call->sums) {
        for (int64_t i = 0; i < chunks && r->division->status == LW_OK; i++) {
            sum += call->sums[i];
        }
        release_scratch(r->division->context, call->sums);
    }
    return sum;
}
