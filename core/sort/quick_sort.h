/* Quicksort of keys, where SIMD_PARTITION is 1. quick_keys.h has the algorithm. */
#pragma once

#include "sort/radix_sort.h"

enum { QUICK_THREADS = 4 /* so many threads sort a long row faster by radix sort, which they share */ };

static inline int sort_is_quick(const lw_context *context, int64_t n) {
    return SIMD_PARTITION && (context->threads < QUICK_THREADS || n < SORT_DIVIDED);
}

/* Sort the n keys at `keys`, which has room for one more vector, and set *is_done, or, if the keys defeat the choice of
 * pivots, clear it. No key is NaN, and zeros have one sign: of two, minimum and maximum could return the same one. */
lw_status quick_sort_int32(lw_context *context, int32_t *keys, int64_t n, int *is_done);
lw_status quick_sort_int64(lw_context *context, int64_t *keys, int64_t n, int *is_done);
lw_status quick_sort_float32(lw_context *context, float *keys, int64_t n, int *is_done);
lw_status quick_sort_float64(lw_context *context, double *keys, int64_t n, int *is_done);
