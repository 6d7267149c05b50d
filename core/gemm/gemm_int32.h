/* C = A B for int32, with wraparound. Computes a strip of one row of C at a time. If the rows of B are not contiguous,
 * copies the elements that a strip needs. */
#pragma once

#include "gemm/gemm.h"

enum { INT32_STRIP = 256 }; /* columns per strip */

static void gemm_int32_strip(const gemm *g, int64_t i, int64_t j, int64_t columns) {
    int32_t sum[INT32_STRIP], packed[INT32_STRIP];
    for (int64_t c = 0; c < columns; c++) {
        sum[c] = 0;
    }
    for (int64_t p = 0; p < g->k; p++) {
        int32_t factor;
        __builtin_memcpy(&factor, g->a + i * g->a_row + p * g->a_column, sizeof factor);
        const char *b = g->b + p * g->b_row + j * g->b_column;
        const int32_t *values = (const int32_t *)b;
        PATH_IF(columns >= VF32_LANES, "gemm_int32: whole vectors");
        PATH_IF(VF32_LANES > 1 && columns % VF32_LANES, "gemm_int32: part of a vector");
        if (g->b_column != sizeof(int32_t)) {
            PATH("gemm_int32: copied row of B");
            copy_strided_32((char *)packed, sizeof(int32_t), b, g->b_column, columns);
            values = packed;
        }
        int64_t c = 0;
        for (; c + VF32_LANES <= columns; c += VF32_LANES) {
            vi32_store(sum + c, vi32_load(sum + c) + vi32_set(factor) * vi32_load(values + c));
        }
        if (c < columns) {
            int n = (int)(columns - c);
            vi32 product = vi32_set(factor) * vi32_load_partial(values + c, n, vi32_set(0));
            vi32_store_partial(sum + c, vi32_load_partial(sum + c, n, vi32_set(0)) + product, n);
        }
    }
    copy_strided(g->c + i * g->c_row + j * g->c_column, g->c_column, (const char *)sum, sizeof(int32_t), columns,
                 sizeof(int32_t));
}

static int64_t gemm_int32_rows(const gemm *g) {
    return 1 + (int64_t)(GEMM_SMALL_WORK / ((double)g->n * (double)g->k + 1));
}

static lw_status gemm_int32_task(lw_context *context, int64_t task, const void *argument) {
    const gemm *g = argument;
    int64_t rows = gemm_int32_rows(g);
    for (int64_t i = task * rows; i < min_int64((task + 1) * rows, g->m); i++) {
        for (int64_t j = 0; j < g->n; j += INT32_STRIP) {
            PATH_IF(j > 0, "gemm_int32: another strip");
            gemm_int32_strip(g, i, j, min_int64(g->n - j, INT32_STRIP));
        }
    }
    return LW_OK;
}

static lw_status gemm_int32_run(lw_context *context, const gemm *g) {
    return run_tasks(context, divide_up(g->m, gemm_int32_rows(g)), gemm_int32_task, g);
}
