/* Matrix products on several threads without barriers: C is divided into a grid of blocks, and each task packs what its
 * block needs, although other tasks pack some of the same panels.
 *
 * Tasks that share panels pack less, as in gemm_packed(). But they need two jobs for each block of k, and read most
 * panels from the cache of another core, which packed them. Here, each core reads only the operands, which stay in its
 * own cache from one call to the next. For large products, these costs are small, so gemm_packed() is as fast.
 * Included by gemm_packed.h. */
#pragma once

enum {
    GRID_MANY_THREADS = 4,   /* from this many on, it is likely that some thread is slower than the others */
    GRID_MAX_WORK = 1 << 24, /* n threads use the grid up to n * max(n, MANY_THREADS) times as many multiply-adds */
    GRID_PACKING = 8,        /* packing an element takes as long as this many multiply-adds */
    GRID_MAX_BLOCKS = 8      /* per thread, if there are many threads */
};

/* Tasks go down the columns of the grid: a thread starts with consecutive tasks, which read the same columns of B. */
typedef struct grid {
    const gemm *g;
    int64_t down, across; /* blocks per column and per row of the grid */
} grid;

/* Returns where block `index` of `blocks` begins. Blocks have whole tiles, except for the last one: tiles of fewer than
 * GEMM_MR rows take up to a fifth longer per row. */
static int64_t grid_start(int64_t extent, int64_t unit, int64_t index, int64_t blocks) {
    return min_int64(index * divide_up(extent, unit) / blocks * unit, extent);
}

/* Returns the product that computes block `task`. */
static gemm grid_block(const grid *grid, int64_t task) {
    gemm block = *grid->g;
    int64_t row = task % grid->down, column = task / grid->down;
    int64_t i = grid_start(block.m, GEMM_MR, row, grid->down), j = grid_start(block.n, GEMM_NR, column, grid->across);
    block.m = grid_start(block.m, GEMM_MR, row + 1, grid->down) - i;
    block.n = grid_start(block.n, GEMM_NR, column + 1, grid->across) - j;
    block.a += i * block.a_row;
    block.b += j * block.b_column;
    block.c += i * block.c_row + j * block.c_column;
    if (block.bias) {
        block.bias += i * block.bias_row + j * block.bias_column;
    }
    return block;
}

/* Chooses the grid of at most `blocks` blocks per thread that takes the least time, and returns that time. */
static int64_t grid_divide(grid *grid, int64_t threads, int64_t blocks) {
    int64_t down_tiles = divide_up(grid->g->m, GEMM_MR), across_tiles = divide_up(grid->g->n, GEMM_NR);
    int64_t tasks = blocks * threads, least = INT64_MAX;
    for (int64_t across = 1; across <= min_int64(tasks, across_tiles); across++) {
        int64_t down = min_int64(tasks / across, down_tiles), each = divide_up(down * across, threads);
        int64_t rows = divide_up(down_tiles * each, down) * GEMM_MR; /* of the blocks of a thread together */
        int64_t columns = divide_up(across_tiles, across) * GEMM_NR;
        int64_t time = rows * columns + GRID_PACKING * (rows + each * columns); /* for each step along k */
        if (time < least) {
            least = time;
            grid->down = down;
            grid->across = across;
        }
    }
    return least;
}

/* Chooses a grid with a block for each thread. Many threads get several blocks each, as many as take at most an eighth
 * longer to compute: a thread that is fast, or early, then takes over blocks of one that is not. */
static void grid_choose(grid *grid, int64_t threads) {
    int64_t time = grid_divide(grid, threads, 1);
    for (int64_t blocks = threads < GRID_MANY_THREADS ? 1 : GRID_MAX_BLOCKS; blocks > 1; blocks--) {
        struct grid finer = *grid;
        if (grid_divide(&finer, threads, blocks) <= time + time / 8) {
            *grid = finer;
            break;
        }
    }
}

/* Computes a block. Allocates scratch memory for each block: a thread usually gets back the memory that it has just
 * released, which is still in its cache. */
static lw_status grid_task(lw_context *context, int64_t task, const void *argument) {
    gemm block = grid_block(argument, task);
    PATH_IF(task > 0, "gemm: grid");
    return gemm_on_threads(context, &block, 1);
}

static lw_status gemm_by_grid(lw_context *context, const gemm *g) {
    grid grid = {.g = g};
    grid_choose(&grid, context->threads);
    return run_tasks(context, grid.down * grid.across, grid_task, &grid);
}
