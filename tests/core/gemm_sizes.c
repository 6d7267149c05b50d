/* Prints the sizes that core/gemm/gemm_sizes.h chooses for products on processors with caches of different sizes, and
 * how many tasks core/gemm/gemm_grid.h makes of a square product, as JSON.
 * Compiled for one instruction set; test_gemm_sizes.py runs it on all of them. */
#define LW_ELEMENT_FLOAT32

#include "lanewise.h"

#include "gemm/gemm_packed.h"

#include <stdio.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static const size_t l2_bytes[] = {0, 32 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB};
static const size_t cache_bytes[] = {0, 256 * KIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 256 * MIB};
static const int64_t shapes[][3] = {{4096, 8192, 4096}, {2048, 512, 2048}, {100, 1000, 256}, {5000, 700, 128}};
static const int64_t threads[] = {1, 16};

#define EACH(index, array) for (size_t index = 0; index < sizeof(array) / sizeof *(array); index++)

static void print_sizes(int64_t on, const int64_t *shape, size_t l2, size_t cache) {
    lw_context context = {.l2_bytes = l2, .cache_bytes = cache, .threads = on};
    gemm g = {.m = shape[0], .n = shape[1], .k = shape[2], .a_row = 4, .a_column = 4 * shape[0]};
    gemm_sizes s = gemm_choose_sizes(&context, &g, on);
    printf("{\"threads\": %d, \"m\": %d, \"n\": %d, \"k\": %d, ", (int)on, (int)g.m, (int)g.n, (int)g.k);
    printf("\"l2\": %lld, \"cache\": %lld, ", (long long)l2, (long long)cache);
    printf("\"rows\": %d, \"columns\": %d, \"depth\": %d, ", (int)s.rows, (int)s.columns, (int)s.depth);
    printf("\"block\": %d, \"task_columns\": %d, ", (int)s.block, (int)s.task_columns);
    printf("\"is_long\": %d, \"is_divided\": %d}\n", gemm_has_long_panels(s.depth), s.packing < 1 << 30);
}

static void print_grid(int64_t n, int64_t threads_used) {
    lw_context context = {.threads = threads_used};
    gemm g = {.m = n, .n = n, .k = n};
    grid grid = {.g = &g};
    grid_choose(&grid, threads_used);
    printf("{\"threads\": %d, \"n\": %d, \"is_grid\": %d, ", (int)threads_used, (int)n, gemm_is_grid(&context, &g));
    printf("\"tasks\": %d}\n", (int)(grid.down * grid.across));
}

int main(void) {
    printf("{\"MR\": %d, \"NR\": %d, \"MC\": %d, \"PACKED_ROWS\": %d, ", GEMM_MR, GEMM_NR, GEMM_MC, GEMM_PACKED_ROWS);
    printf("\"NC\": %d, \"LONG_NC\": %d, \"KC\": %d}\n", GEMM_NC, GEMM_LONG_NC, GEMM_KC);
    print_grid(256, 8);
    print_grid(512, 16);
    EACH(on, threads)
    EACH(shape, shapes)
    EACH(l2, l2_bytes)
    EACH(cache, cache_bytes)
    print_sizes(threads[on], shapes[shape], l2_bytes[l2], cache_bytes[cache]);
    return 0;
}
