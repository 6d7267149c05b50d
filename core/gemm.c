/* Matrix multiplication: five loops around a micro-kernel, after Van Zee and van de Geijn, "BLIS: A Framework for
 * Rapidly Instantiating BLAS Functionality", 2015.
 *
 * The loops cut C into columns (GEMM_OUTER_COLUMNS), the sum into depths (GEMM_DEPTH) and C's rows into
 * GEMM_OUTER_ROWS; for each of these the parts of B and A are packed, in panels as wide as the micro-kernel's tile, and
 * then tasks compute blocks of C: two more loops, over panels of B and of A. Packing takes any strides; zeros fill the
 * last panel. Each element of C is summed in an order that depends on k alone. */
#ifndef LANEWISE_GEMM_C
#define LANEWISE_GEMM_C

#include "gemm.h"
#include "gemm_thin.h"

/* tile = A B, or added to it: `depth` steps through a panel of each. The loops over the tile's registers must be
 * unrolled completely: only then is the array of them kept in registers. */
static void gemm_tile(int64_t depth, const float *a, const float *b, char *tile, int64_t tile_row, int add) {
    enum { REGISTERS = GEMM_ROWS * GEMM_VECTORS };
    vf32 sum[REGISTERS];
#pragma GCC unroll 32
    for (int s = 0; s < REGISTERS; s++) sum[s] = vf32_set(0);
    for (int64_t p = 0; p < depth; p++, a += GEMM_ROWS, b += GEMM_COLUMNS) {
        vf32 values[GEMM_VECTORS];
#pragma GCC unroll 32
        for (int v = 0; v < GEMM_VECTORS; v++) values[v] = vf32_load(b + v * VF32_LANES);
#pragma GCC unroll 32
        for (int s = 0; s < REGISTERS; s++)
            sum[s] = vf32_fma(vf32_set(a[s / GEMM_VECTORS]), values[s % GEMM_VECTORS], sum[s]);
    }
#pragma GCC unroll 32
    for (int s = 0; s < REGISTERS; s++) {
        float *to = (float *)(tile + s / GEMM_VECTORS * tile_row) + s % GEMM_VECTORS * VF32_LANES;
        vf32_store(to, add ? vf32_load(to) + sum[s] : sum[s]);
    }
}

/* Four by four floats, turned. */
typedef float gemm_quad __attribute__((vector_size(16)));
LANE void gemm_turn(const char *from, int64_t across, float *to, int width) {
    gemm_quad q[4];
    for (int r = 0; r < 4; r++) __builtin_memcpy(&q[r], from + r * across, sizeof q[r]);
    gemm_quad top_left = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
    gemm_quad top_right = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
    gemm_quad low_left = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
    gemm_quad low_right = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    q[0] = __builtin_shufflevector(top_left, low_left, 0, 1, 4, 5);
    q[1] = __builtin_shufflevector(top_left, low_left, 2, 3, 6, 7);
    q[2] = __builtin_shufflevector(top_right, low_right, 0, 1, 4, 5);
    q[3] = __builtin_shufflevector(top_right, low_right, 2, 3, 6, 7);
    for (int r = 0; r < 4; r++) __builtin_memcpy(to + r * width, &q[r], sizeof q[r]);
}

/* to[p * width + w] = from[p * along + w * across] for w < count, 0 up to width. */
LANE void gemm_pack(float *to, int width, const char *from, int64_t across, int64_t along, int64_t count,
                    int64_t depth) {
    int64_t w = 0;
    if (across == sizeof(float) && count == width) {
        for (int64_t p = 0; p < depth; p++) copy_strided_32((char *)(to + p * width), 4, from + p * along, 4, width);
        return;
    }
    if (along == sizeof(float) && VF32_LANES > 1)
        for (; w + 4 <= count; w += 4) {
            int64_t p = 0;
            for (; p + 4 <= depth; p += 4) gemm_turn(from + w * across + p * along, across, to + p * width + w, width);
            for (; p < depth; p++)
                for (int r = 0; r < 4; r++) to[p * width + w + r] = gemm_float(from + p * along + (w + r) * across);
        }
    for (; w < count; w++)
        for (int64_t p = 0; p < depth; p++) to[p * width + w] = gemm_float(from + p * along + w * across);
    for (; w < width; w++)
        for (int64_t p = 0; p < depth; p++) to[p * width + w] = 0;
}

static void gemm_pack_rows(float *to, const char *from, int64_t across, int64_t along, int64_t count, int64_t depth) {
    gemm_pack(to, GEMM_ROWS, from, across, along, count, depth);
}

static void gemm_pack_columns(float *to, const char *from, int64_t across, int64_t along, int64_t count,
                              int64_t depth) {
    gemm_pack(to, GEMM_COLUMNS, from, across, along, count, depth);
}

/* The part of a product that is packed at one time. */
typedef struct gemm_part {
    const gemm *g;
    int64_t i, rows, j, columns, p, depth;
    float *a, *b;
    int64_t a_panels, b_panels, pack_tasks; /* to pack */
    int64_t block, task_columns;
} gemm_part;

/* The same share of A as of B: the thread that begins with the first tasks here begins with the first blocks of C. */
static lw_status gemm_pack_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const gemm_part *part = argument;
    const gemm *g = part->g;
    int64_t tasks = part->pack_tasks;
    for (int64_t panel = task * part->a_panels / tasks; panel < (task + 1) * part->a_panels / tasks; panel++) {
        int64_t i = panel * GEMM_ROWS;
        gemm_pack_rows(part->a + i * part->depth, g->a + (part->i + i) * g->a_row + part->p * g->a_column, g->a_row,
                       g->a_column, min_int64(part->rows - i, GEMM_ROWS), part->depth);
    }
    for (int64_t panel = task * part->b_panels / tasks; panel < (task + 1) * part->b_panels / tasks; panel++) {
        int64_t j = panel * GEMM_COLUMNS;
        float *to = part->b + j * part->depth;
        if (g->pack_b)
            g->pack_b(g, part->p, part->depth, part->j + j, to);
        else
            gemm_pack_columns(to, g->b + part->p * g->b_row + (part->j + j) * g->b_column, g->b_column, g->b_row,
                              min_int64(part->columns - j, GEMM_COLUMNS), part->depth);
    }
    return LW_OK;
}

/* One tile of C, from packed panels; (i, j) is within the part. */
static void gemm_compute_tile(const gemm_part *part, int64_t i, int64_t j) {
    const gemm *g = part->g;
    int64_t rows = min_int64(part->rows - i, GEMM_ROWS), columns = min_int64(part->columns - j, GEMM_COLUMNS);
    const float *a = part->a + i * part->depth, *b = part->b + j * part->depth;
    int add = part->p > 0, last = part->p + part->depth == g->k;
    i += part->i, j += part->j;
    if (rows == GEMM_ROWS && columns == GEMM_COLUMNS && g->c_column == sizeof(float)) {
        char *c = g->c + i * g->c_row + j * g->c_column;
        gemm_tile(part->depth, a, b, c, g->c_row, add);
        if (last && (g->bias || g->activate)) gemm_finish_tile(g, i, j, rows, columns, c, g->c_row, columns);
        return;
    }
    float tile[GEMM_ROWS * GEMM_COLUMNS];
    gemm_tile(part->depth, a, b, (char *)tile, sizeof(float) * GEMM_COLUMNS, 0);
    gemm_put_tile(g, i, j, rows, columns, tile, GEMM_COLUMNS, add, last);
}

static lw_status gemm_block_task(lw_context *context, int64_t task, const void *argument) {
    (void)context;
    const gemm_part *part = argument;
    int64_t across = divide_up(part->columns, part->task_columns);
    int64_t first_row = task / across * part->block, first_column = task % across * part->task_columns;
    int64_t end_row = min_int64(first_row + part->block, part->rows);
    int64_t end_column = min_int64(first_column + part->task_columns, part->columns);
    for (int64_t j = first_column; j < end_column; j += GEMM_COLUMNS)
        for (int64_t i = first_row; i < end_row; i += GEMM_ROWS) gemm_compute_tile(part, i, j);
    return LW_OK;
}

typedef struct gemm_sizes {
    int64_t rows, columns, depth; /* packed at once */
    int64_t block, task_columns;  /* rows and columns that a task computes */
    int64_t packing;              /* floats that a task packs */
} gemm_sizes;

static lw_status gemm_blocked(lw_context *context, const gemm *g, gemm_sizes sizes, float *a, float *b) {
    gemm_part part = {.g = g, .a = a, .b = b, .block = sizes.block, .task_columns = sizes.task_columns};
    for (part.j = 0; part.j < g->n; part.j += sizes.columns) {
        part.columns = min_int64(g->n - part.j, sizes.columns);
        part.p = 0;
        do { /* once also where k is 0, to write zeros */
            part.depth = min_int64(g->k - part.p, sizes.depth);
            part.b_panels = divide_up(part.columns, GEMM_COLUMNS);
            for (part.i = 0; part.i < g->m; part.i += sizes.rows) {
                part.rows = min_int64(g->m - part.i, sizes.rows);
                part.a_panels = divide_up(part.rows, GEMM_ROWS);
                int64_t packed = (part.a_panels * GEMM_ROWS + part.b_panels * GEMM_COLUMNS) * part.depth;
                part.pack_tasks = 1 + packed / sizes.packing;
                int64_t blocks = divide_up(part.rows, part.block) * divide_up(part.columns, part.task_columns);
                lw_status status = run_tasks(context, part.pack_tasks, gemm_pack_task, &part);
                if (status == LW_OK) status = run_tasks(context, blocks, gemm_block_task, &part);
                if (status != LW_OK) return status;
                part.b_panels = 0; /* stays packed for the next rows */
            }
            part.p += part.depth;
        } while (part.p < g->k);
    }
    return LW_OK;
}

/* Tasks of about the same work, whatever the shape: several threads then end together. */
static gemm_sizes gemm_choose_sizes(const gemm *g) {
    gemm_sizes sizes = {GEMM_OUTER_ROWS, GEMM_OUTER_COLUMNS, GEMM_DEPTH, GEMM_OUTER_ROWS, GEMM_OUTER_COLUMNS, 1 << 30};
    if (gemm_work(g) < GEMM_SMALL) return sizes;
    int64_t rows = divide_up(g->m, divide_up(g->m, GEMM_BLOCK)); /* of blocks that are alike */
    int64_t panel = rows * GEMM_COLUMNS * min_int64(g->k, GEMM_DEPTH);
    sizes.block = divide_up(rows, GEMM_ROWS) * GEMM_ROWS;
    sizes.task_columns = min_int64(divide_up(GEMM_TASK, panel) * GEMM_COLUMNS, GEMM_TASK_COLUMNS);
    sizes.packing = 1 << 14;
    return sizes;
}

static lw_status gemm_run(lw_context *context, const gemm *whole) {
    gemm g;
    if (whole->m == 0 || whole->n == 0) return LW_OK;
    if (gemm_is_thin(whole, &g)) return gemm_thin(context, &g);
    int turn = whole->c_column != sizeof(float) && whole->c_row == sizeof(float) && !whole->pack_b;
    g = turn ? gemm_transposed(whole) : *whole;
    gemm_sizes sizes = gemm_choose_sizes(&g);
    int64_t depth = min_int64(g.k, sizes.depth);
    int64_t a_size = divide_up(min_int64(g.m, sizes.rows), GEMM_ROWS) * GEMM_ROWS * depth;
    int64_t b_size = divide_up(min_int64(g.n, sizes.columns), GEMM_COLUMNS) * GEMM_COLUMNS * depth;
    a_size = divide_up(a_size, 16) * 16; /* so that b is aligned as well */
    float *scratch =
        context->allocate ? context->allocate(context, (size_t)(a_size + b_size + 16) * sizeof *scratch) : NULL;
    if (scratch) {
        lw_status status = gemm_blocked(context, &g, sizes, scratch, scratch + a_size);
        if (context->release) context->release(context, scratch);
        return status;
    }
    float a[GEMM_ROWS * GEMM_STACK_DEPTH], b[GEMM_COLUMNS * GEMM_STACK_DEPTH];
    gemm_sizes small = {GEMM_ROWS, GEMM_COLUMNS, GEMM_STACK_DEPTH, GEMM_ROWS, GEMM_COLUMNS, 1 << 30};
    return gemm_blocked(context, &g, small, a, b);
}

#endif
